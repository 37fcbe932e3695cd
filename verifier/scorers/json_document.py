"""`json`: the output is one JSON document, with the required top-level keys.

Strict about what it finds: a bare document, or exactly one fenced block and nothing beside it. A
structured output is taken as it is. Source: seed 001 §2, domain §4.
"""

import re
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from verifier.framing import one_line
from verifier.parsing import Parsed, ParseProblem, check_structure, parse_untrusted
from verifier.scorers.scorer import Finding, Scorer, ScoringContext, failed, passed

MAX_REQUIRED_KEYS = 50
MAX_KEY_CHARS = 200
MAX_SEARCHED = 1_000_100  # a document may have 1,000,000 bytes, and its fence a few more

_FENCE_LINE = re.compile(r"^[ ]{0,3}(?:```+|~~~+)[^\n`]*$", re.MULTILINE)
_WHOLE_BLOCK = re.compile(
    r"(?P<mark>```+|~~~+)[ \t]*(?:json|JSON)?[ \t]*\n(?P<body>.*)\n[ ]{0,3}(?P=mark)", re.DOTALL
)

Key = Annotated[str, Field(min_length=1, max_length=MAX_KEY_CHARS)]


class JsonDocument(Scorer):
    """Passes when the output is JSON and, if keys are required, an object that has them."""

    kind: Literal["json"] = "json"
    required_keys: tuple[Key, ...] = Field(
        default=(), max_length=MAX_REQUIRED_KEYS, alias="requiredKeys", strict=False
    )
    allow_null: bool = Field(default=False, alias="allowNull")

    def score(self, context: ScoringContext) -> Finding:
        found = _document(context.deliverable.output)
        if isinstance(found, ParseProblem):
            return failed(found.reason)
        return self._judge(found.value)

    def _judge(self, value: JsonValue) -> Finding:
        if value is None and not self.allow_null:
            return failed("expected a document with content, got null")
        if not self.required_keys:
            return passed(_describe(value))
        if not isinstance(value, dict):
            return failed(f"expected an object with required keys, got {_describe(value)}")
        missing = [one_line(key, 80) for key in self.required_keys if key not in value]
        if missing:
            return failed(f"missing required keys: {', '.join(missing)}", _describe(value))
        return passed(_describe(value))


def _document(output: JsonValue) -> Parsed | ParseProblem:
    if not isinstance(output, str):
        return check_structure(output) or Parsed(output)
    bare = parse_untrusted(output)
    if isinstance(bare, Parsed):
        return bare
    fences = len(_FENCE_LINE.findall(output)) if len(output) <= MAX_SEARCHED else 0
    if fences == 0:
        return bare
    block = _WHOLE_BLOCK.fullmatch(output.strip())
    if fences != 2 or block is None:
        return ParseProblem(
            "expected a bare document or exactly one fenced block with nothing beside it, "
            f"got {_fences(fences)}"
        )
    return parse_untrusted(block["body"])


def _fences(count: int) -> str:
    return "text around a fenced block" if count == 2 else f"{count} fence lines"


def _describe(value: JsonValue) -> str:
    if isinstance(value, dict):
        keys = [one_line(key, 40) for key in list(value)[:10]]
        return f"an object with {len(value):,} keys: {', '.join(keys)}" if keys else "an object {}"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    if isinstance(value, str):
        return f"a text of {len(value):,} characters"
    return "null" if value is None else f"the value {one_line(str(value), 40).lower()}"
