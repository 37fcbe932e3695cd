"""What a gate asks for, in words; and the gates of a node, those nobody has to ask for too."""

import json
from collections.abc import Callable
from typing import Any

from verifier.scorers.derived import ExpectedOutput, derived_scorers
from verifier.scorers.kinds import KINDS

Document = dict[str, Any]


def gate_words(spec: Document) -> str:
    """What has to be true; options of a kind this version does not know are named as they are."""
    say = _WORDS.get(spec.get("kind", ""))
    if say is not None:
        return say(spec)
    options = {name: value for name, value in spec.items() if name != "kind" and value is not None}
    return json.dumps(options, ensure_ascii=False, default=str) if options else ""


def gates_of(node: Document) -> list[Document]:
    """The gates of a node document: the ones asked for, then the ones that are always checked."""
    if node["worker"] is None:
        return []
    asked = [_gate(spec, is_derived=False) for spec in node["gates"]]
    return asked + [_gate(spec, is_derived=True) for spec in _derived(node)]


def _gate(spec: Document, *, is_derived: bool) -> Document:
    return {"kind": spec["kind"], "asks": gate_words(spec), "is_derived": is_derived}


def _derived(node: Document) -> list[Document]:
    expected = node["expected_output"]
    specs = [
        KINDS[spec["kind"]].model_validate_json(json.dumps(spec), by_alias=True, by_name=True)
        for spec in node["gates"]
        if spec["kind"] in KINDS
    ]
    shape = None if expected is None else ExpectedOutput.model_validate_json(json.dumps(expected))
    return [one.model_dump(mode="json") for one in derived_scorers(shape, specs)]


def _contains(spec: Document) -> str:
    text = "notes contain" if spec.get("on") == "notes" else "output contains"
    return f"the {text} “{spec.get('value', '')}”"


def _json(spec: Document) -> str:
    keys = spec.get("requiredKeys") or spec.get("required_keys") or ()
    if not keys:
        return "the output is JSON"
    allows_null = spec.get("allowNull") or spec.get("allow_null")
    named = ", ".join(f"“{key}”" for key in keys)
    one = "the key" if len(keys) == 1 else "the keys"
    return f"the output is a JSON object with {one} {named}{', null allowed' * bool(allows_null)}"


_WORDS: dict[str, Callable[[Document], str]] = {
    "non_empty": lambda _spec: "the output has content",
    "contains": _contains,
    "json": _json,
    "file_exists": lambda spec: f"“{spec.get('path', '')}” is in the workspace",
    "tool_outage": lambda _spec: "of its tool calls at least one succeeded, if it made any",
    "files_changed": lambda _spec: "at least one file was changed",
}
