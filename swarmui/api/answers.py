"""Large answers leave as bytes: orjson on plain rows, no model built per row."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from swarmui.json_form import json_bytes


def json_answer(
    data: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """`data` (dicts, lists, UUIDs, datetimes) as JSON that no cache keeps."""
    response = HttpResponse(
        json_bytes(data),
        status=status,
        content_type="application/json",
    )
    response["Cache-Control"] = "no-store"
    for name, value in (headers or {}).items():
        response[name] = value
    return response
