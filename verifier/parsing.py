"""The one way in for JSON that somebody else wrote.

Strict where Python's parser is lenient: one document, UTF-8, bounded in bytes and depth, no
duplicate keys, no NaN, no number or text that a database cannot hold. Source: domain §4,
reliability S10.
"""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, count

from pydantic import JsonValue

from verifier.framing import one_line

MAX_BYTES = 1_000_000
MAX_DEPTH = 64
MAX_DIGITS = 1_000  # of one number; Python prints no integer beyond 4,300

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)  # closing quote optional: linear
_NOT_A_BRACKET = re.compile(r"[^\[\]{}]+")
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True)
class Parsed:
    """The document's value."""

    value: JsonValue


@dataclass(frozen=True)
class ParseProblem:
    """Why the text is no acceptable document, in words for people."""

    reason: str


class _Refused(ValueError):
    """The document breaks one of our rules."""


def parse_untrusted(
    text: str | bytes, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH
) -> Parsed | ParseProblem:
    """`text` as one JSON document, or the reason why not. Never raises for what the text says."""
    try:
        decoded = _decode(text, max_bytes)
        _refuse_depth(decoded, max_depth)
        value = json.loads(
            decoded,
            object_pairs_hook=_without_duplicates,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_printable,
        )
        if "\\u" in decoded:
            _refuse_unstorable(value)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        return ParseProblem(f"not JSON: {what} at line {error.lineno}, column {error.colno}")
    except _Refused as refusal:
        return ParseProblem(str(refusal))
    except (RecursionError, MemoryError):
        return ParseProblem("not JSON: too deep or too large")
    return Parsed(value)


def check_structure(value: object, max_depth: int = MAX_DEPTH) -> ParseProblem | None:
    """The same rules for a value that was never text: depth, finite numbers, storable text."""
    level: list[object] = [value]
    for depth in count(1):
        inner: list[object] = []
        for item in level:
            if not isinstance(item, dict | list | tuple):
                if (problem := _scalar_problem(item)) is not None:
                    return problem
                continue
            if depth > max_depth:
                return ParseProblem(f"nested deeper than {max_depth} levels")
            inner += [*item, *item.values()] if isinstance(item, dict) else item
        if not inner:
            break
        level = inner
    return None


def _scalar_problem(item: object) -> ParseProblem | None:
    if isinstance(item, float) and not math.isfinite(item):
        return ParseProblem(f"{item} is not a JSON number")
    if isinstance(item, str) and (found := UNSTORABLE.search(item)):
        return ParseProblem(f"contains {unstorable_name(found[0])}")
    return None


def unstorable_name(char: str) -> str:
    """What a person calls a character that no database holds."""
    return "a NUL character" if char == "\x00" else f"the lone surrogate U+{ord(char):04X}"


def _decode(text: str | bytes, max_bytes: int) -> str:
    if len(text) > max_bytes:
        unit = "bytes" if isinstance(text, bytes) else "characters"
        raise _Refused(f"expected at most {max_bytes:,} bytes, got {len(text):,} {unit}")
    try:
        octets = text if isinstance(text, bytes) else text.encode()
        decoded = octets.decode()
    except UnicodeEncodeError as error:
        raise _Refused(f"contains a lone surrogate at character {error.start + 1}") from None
    except UnicodeDecodeError as error:
        raise _Refused(
            f"not UTF-8: byte {error.start + 1} is 0x{octets[error.start]:02x}"
        ) from None
    if len(octets) > max_bytes:
        raise _Refused(f"expected at most {max_bytes:,} bytes, got {len(octets):,} bytes")
    if decoded.startswith("\ufeff"):
        raise _Refused("begins with a byte order mark")
    if not decoded.strip():
        raise _Refused("expected a JSON document, got nothing")
    return decoded


def _refuse_depth(text: str, max_depth: int) -> None:
    if text.count("[") + text.count("{") <= max_depth:
        return
    brackets = _NOT_A_BRACKET.sub("", _STRING.sub("", text))
    if max(accumulate(_steps(brackets)), default=0) > max_depth:
        raise _Refused(f"nested deeper than {max_depth} levels")


def _steps(brackets: str) -> Iterable[int]:
    return map(_STEP.__getitem__, brackets)


def _without_duplicates(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _Refused(f"the key {one_line(key, 80)!r} occurs twice in one object")
        seen.add(key)
    return found


def _refuse_constant(name: str) -> None:
    raise _Refused(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _Refused(f"the number {one_line(digits, 40)} is out of range")
    return number


def _printable(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _Refused(f"expected a number of at most {MAX_DIGITS:,} digits, got {len(digits):,}")
    return int(digits)


def _refuse_unstorable(value: JsonValue) -> None:
    problem = check_structure(value)
    if problem is not None:
        raise _Refused(problem.reason)
