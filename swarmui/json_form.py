"""Documents as JSON text, in the one form that API and command line share."""

import json
from datetime import datetime
from typing import Any

import orjson


def json_bytes(data: Any, *, indented: bool = False) -> bytes:
    """`data` (dicts, lists, UUIDs, datetimes) as UTF-8; a UTC time as `2026-03-01T12:00:00Z`."""
    option = orjson.OPT_UTC_Z | (orjson.OPT_INDENT_2 if indented else 0)
    try:
        return orjson.dumps(data, option=option)
    except TypeError:
        # A worker may answer with an integer of more than 64 bits, which orjson refuses.
        separators = (",", ": ") if indented else (",", ":")
        text = json.dumps(
            data,
            ensure_ascii=False,
            indent=2 if indented else None,
            separators=separators,
            default=_text,
        )
        return text.encode("utf-8", "backslashreplace")


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)
