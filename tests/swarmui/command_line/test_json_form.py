"""One form of JSON for the API and the command line."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from swarmui.api.answers import json_answer
from swarmui.json_form import json_bytes
from swarmui.management.product_command import ProductCommand

AT = datetime(2026, 3, 1, 12, 0, 5, 120_000, tzinfo=UTC)
HUGE = 10**30  # a worker may answer with it; the fast encoder refuses it


@pytest.mark.parametrize(
    "value",
    [
        {"at": AT, "text": "é\x00"},
        {"at": AT.replace(microsecond=0), "n": None},
        {"at": AT, "n": HUGE, "text": "é"},
    ],
)
def test_the_command_line_says_what_the_api_says(value: dict[str, Any]) -> None:
    out = io.StringIO()
    ProductCommand(stdout=out).print_json(value)
    assert json.loads(out.getvalue()) == json.loads(json_answer(value).content)


@pytest.mark.parametrize("other", [1, HUGE])
def test_a_time_is_told_in_one_form(other: int) -> None:
    assert json.loads(json_bytes({"at": AT, "n": other})) == {
        "at": "2026-03-01T12:00:05.120000Z",
        "n": other,
    }
