"""Turns the validator's findings into sentences: what was expected, and what was seen."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails

from verifier.scorers import KINDS
from verifier.spec.models import (
    WORKER_KINDS,
    BranchSpec,
    BudgetSpec,
    CommandWorker,
    LimitsSpec,
    ModelSpec,
    ModelWorker,
    Part,
    RunSpec,
    WorkspaceSpec,
)
from verifier.spec.problems import SpecProblem, describe, path_of

# Parts of a spec that this version does not offer; never ignored.
UNAVAILABLE = {
    "constitution": "constitutions are not available: leave it out",
    "verifier_model": "the goal verifier is not available: leave it out",
    "verifier.max_repair_rounds": "the goal verifier is not available: leave it out",
}

_PARTS: tuple[type[Part], ...] = (
    RunSpec, BranchSpec, WorkspaceSpec, BudgetSpec, LimitsSpec, ModelSpec, ModelWorker,
    CommandWorker,
)  # fmt: skip
_KEYS = sorted(
    {name for part in _PARTS for name in part.model_fields}
    | {field.alias or name for kind in KINDS.values() for name, field in kind.model_fields.items()}
    | {"schema", "shape", "enabled", "extract"}
)

_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number in range",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}

Context = Mapping[str, Any]


def is_echo(detail: ErrorDetails) -> bool:
    """Whether a finding only repeats others: a list is "too short" of entries that were faulty."""
    seen, context = detail["input"], detail.get("ctx") or {}
    return (
        detail["type"] == "too_short"
        and isinstance(seen, list | tuple)
        and len(seen) >= context["min_length"]
    )


def problem_of(detail: ErrorDetails) -> SpecProblem:
    """One finding of the validator as a problem with a field path."""
    parts = [part for part in detail["loc"] if not _is_tag(part)]
    is_unknown_key = detail["type"] == "extra_forbidden"
    if parts and parts[-1] == "[key]":
        parts.pop()
    path = path_of(parts)
    if is_unknown_key:
        return SpecProblem(path, UNAVAILABLE.get(path) or _unknown_key(str(parts[-1])))
    if detail["type"] == "union_tag_invalid":
        path = f"{path}.kind"
    return SpecProblem(path, _message(detail))


def _is_tag(part: str | int) -> bool:
    return isinstance(part, str) and part.startswith("=") and part[1:] in _TAGS


_TAGS = frozenset({"name", "object", *WORKER_KINDS, *KINDS})


def _unknown_key(key: str) -> str:
    close = get_close_matches(key[:80], _KEYS, n=1)
    return f"unknown key; did you mean {close[0]}?" if close else "unknown key"


def _message(detail: ErrorDetails) -> str:
    kind = detail["type"]
    context: Context = detail.get("ctx") or {}
    seen = detail["input"]
    if kind in _TYPES and detail["loc"][-1:] == ("=object",):
        return f"expected a model's name, or a mapping with name and base_url, got {describe(seen)}"
    if kind in _TYPES:
        return f"expected {_TYPES[kind]}, got {describe(seen)}"
    if kind in _SENTENCES:
        return _SENTENCES[kind](context, seen)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _kind_message(detail["loc"], seen)
    return detail["msg"].removeprefix("Value error, ")


def _kind_message(loc: tuple[str | int, ...], seen: object) -> str:
    known = WORKER_KINDS if loc[-1:] == ("worker",) else tuple(KINDS)
    if not isinstance(seen, dict):
        return f"expected a mapping with a kind, got {describe(seen)}"
    wrong = describe(seen["kind"]) if "kind" in seen else "no kind"
    return f"expected one of the kinds {', '.join(known)}, got {wrong}"


def _literal(context: Context, seen: object) -> str:
    wanted = str(context.get("expected", "")).replace("'", "")
    return f"expected {wanted}, got {describe(seen)}"


def _too_few(context: Context, seen: object) -> str:
    return f"expected at least {_count(context['min_length'], 'entry', 'entries')}, got 0"


def _too_many(context: Context, seen: object) -> str:
    got = f"{len(seen):,}" if isinstance(seen, list | tuple) else "more"
    return f"expected at most {_count(context['max_length'], 'entry', 'entries')}, got {got}"


def _too_short(context: Context, seen: object) -> str:
    wanted = _count(context["min_length"], "character", "characters")
    return f"expected at least {wanted}, got {describe(seen)}"


def _too_long(context: Context, seen: object) -> str:
    got = f"{len(seen):,}" if isinstance(seen, str) else "more"
    return f"expected at most {context['max_length']:,} characters, got {got}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _at_least(context: Context, seen: object) -> str:
    return f"expected at least {int(context['ge']):,}, got {describe(seen)}"


def _at_most(context: Context, seen: object) -> str:
    return f"expected at most {int(context['le']):,}, got {describe(seen)}"


def _missing(context: Context, seen: object) -> str:
    return "required, but missing"


_SENTENCES: dict[str, Callable[[Context, object], str]] = {
    "missing": _missing,
    "literal_error": _literal,
    "too_short": _too_few,
    "too_long": _too_many,
    "string_too_short": _too_short,
    "string_too_long": _too_long,
    "greater_than_equal": _at_least,
    "less_than_equal": _at_most,
}
