"""The steps of an attempt for reading: names and values, long texts as they are."""

import json
from typing import Any

from swarmui.templatetags.ui import duration
from verifier.parsing import ParseProblem, parse_untrusted

Document = dict[str, Any]

LINE_CHARS = 120  # what is longer, or has lines, is a block of its own
_FAILED_CALLS = frozenset({"error", "invalid", "denied"})
_TONES = {"denial": "bad", "feedback": "warn"}
_SPREAD = frozenset({"arguments"})  # shown by their own names
_UNREMARKABLE = (("kind", "result"), ("truncated", False))


def entry_parts(entry: Document) -> Document:
    """A trajectory entry with its tone, its gist for one line, and its parts for reading."""
    payload = entry["payload"]
    return entry | {
        "tone": _tone(entry),
        "gist": _gist(payload),
        "has_more": bool(payload),
        "parts": _parts(payload) if payload else [],
    }


def _tone(entry: Document) -> str:
    failed = isinstance(entry["payload"], dict) and entry["payload"].get("kind") in _FAILED_CALLS
    return "bad" if failed else _TONES.get(entry["kind"], "")


def _gist(payload: Any) -> Any:
    """The part of an entry that tells most: what was asked for, or what came back."""
    if isinstance(payload, dict):
        for key in ("arguments", "content", "reason", "text"):
            if payload.get(key):
                return payload[key]
    return payload


def _parts(payload: Any) -> list[Document]:
    if not isinstance(payload, dict):
        return [_part("value", payload)]
    parts = []
    for name, value in payload.items():
        if (name, value) in _UNREMARKABLE:
            continue
        if name in _SPREAD and isinstance(value, dict):
            parts += [_part(inner, one) for inner, one in value.items()]
        else:
            parts.append(_part(name, value))
    return parts


def _part(name: str, value: Any) -> Document:
    text = value if isinstance(value, str) else _indented(value)
    if name == "content":
        text = _readable(text)
    words = name.replace("_", " ")
    if name == "duration_ms":
        words, text = "took", duration(value) if isinstance(value, int) else text
    return {"name": words, "text": text, "is_block": "\n" in text or len(text) > LINE_CHARS}


def _readable(text: str) -> str:
    """What a tool gave back: a JSON object or list indented, with any other text as it is."""
    if not text.startswith(("{", "[")):
        return text
    parsed = parse_untrusted(text)
    return text if isinstance(parsed, ParseProblem) else _indented(parsed.value)


def _indented(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
