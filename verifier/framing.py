"""How foreign text is shown, stored and quoted, so that it stays text.

Three sinks, three treatments: `visible` for eyes (page, terminal, log), `db_text` and `db_json`
for the database, `neutralise` and `fence` for prompts. What is stored is the text itself; it is
treated on its way out. Source: domain §6, reliability S1, S4, S10.
"""

import math
import re
import secrets
import unicodedata
from collections.abc import Callable, Mapping
from itertools import count

from pydantic import JsonValue

from verifier.characters import COMBINING, CONTROLS, SURROGATES, UNSEEN
from verifier.delimiters import BLOCK_NAMES, neutralise

__all__ = ["bounded", "db_json", "db_text", "fence", "neutralise", "one_line", "visible"]

MAX_JSON_DEPTH = 64  # no honest deliverable nests deeper; databases and parsers give up later
MAX_JSON_CHARS = 1_000_000  # one stored value; every number, key and bracket counts as one or more
MAX_KEY_CHARS = 1_000
MAX_INT_DIGITS = 1_000  # beyond 4,300 Python itself refuses to print one
FENCED_CHARS = 20_000  # one quoted block of a prompt
MARKS_KEPT = 4  # Hebrew and Thai need up to four on one letter

_UNSTORABLE = re.compile(f"[\x00{SURROGATES}]")
_SHOWN_AS_ESCAPE = re.compile(f"[{CONTROLS}{UNSEEN}{SURROGATES}]")
_PILE = re.compile(f"([{COMBINING}]{{{MARKS_KEPT}}})([{COMBINING}]+)")


def bounded(text: str, cap: int) -> str:
    """`text`, or its beginning and a mark naming the whole length: at most `cap` characters."""
    if len(text) <= cap:
        return text
    mark = f"… [truncated, {len(text):,} chars]"
    return text[: cap - len(mark)] + mark if cap > len(mark) else text[:cap]


def db_text(text: str, cap: int) -> str:
    """What every database can hold: NUL and lone surrogates as visible escapes, at most `cap`
    characters with the cut marked."""
    if len(text) > cap:
        text = bounded(text, cap)
    escaped = _UNSTORABLE.sub(_escape, text)
    return escaped if len(escaped) <= cap else bounded(escaped, cap)


def visible(text: str) -> str:
    """What a person can be shown: everything that acts or hides is spelt out.

    ESC becomes `␛`, other controls their picture or `⟦U+009B⟧`, bidirectional and invisible
    characters `⟦U+202E⟧`, piles of combining marks their count. Newline and tab stay.
    """
    text = _SHOWN_AS_ESCAPE.sub(_escape_unless_emoji_style, text)
    return _PILE.sub(lambda m: f"{m[1]}⟦+{len(m[2])} combining marks⟧", text)


def one_line(text: str, cap: int) -> str:
    """`visible`, on one line, blanks collapsed, at most `cap` characters ("…" where cut)."""
    head = text[: 4 * cap + 64]  # blanks collapse, so more than `cap` is looked at
    line = " ".join(visible(head).split())
    if len(line) <= cap and len(head) == len(text):
        return line
    return line[: cap - 1] + "…"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"⟦U+{code:04X}⟧"


def _escape_unless_emoji_style(match: re.Match[str]) -> str:
    at = match.start()
    if match[0] in "\ufe0e\ufe0f" and at > 0 and _takes_style(match.string[at - 1]):
        return match[0]  # "⚠️" is one symbol with its style, and everywhere in model output
    return _escape(match)


def _takes_style(char: str) -> bool:
    return char in "0123456789#*" or unicodedata.category(char) in ("So", "Sm")


def db_json(value: object, cap: int = MAX_JSON_CHARS) -> JsonValue:
    """`value` as JSON that every database can hold; never raises for what it is given.

    Text is treated as by `db_text`; NaN and infinities, huge integers, too deep or too much
    become text that says so; anything that is not JSON becomes its type's name.
    """
    return _JsonCleaner(cap).clean(value, 0)


class _JsonCleaner:
    """One pass over a value with a budget of characters shared by all its parts."""

    def __init__(self, cap: int) -> None:
        self._left = cap

    def clean(self, value: object, depth: int) -> JsonValue:
        self._left -= 1
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping | list | tuple):
            if depth >= MAX_JSON_DEPTH:
                return f"[nested deeper than {MAX_JSON_DEPTH} levels]"
            if isinstance(value, Mapping):
                return self._object(value, depth + 1)
            return self._array(value, depth + 1)
        return _scalar(value)

    def _text(self, text: str) -> str:
        kept = db_text(text, max(self._left, 0))
        self._left -= len(kept)
        return kept

    def _array(self, values: list[object] | tuple[object, ...], depth: int) -> list[JsonValue]:
        cleaned: list[JsonValue] = []
        for item in values:
            if self._left <= 0:
                cleaned.append(f"… [truncated, {len(values):,} items]")
                break
            cleaned.append(self.clean(item, depth))
        return cleaned

    def _object(self, values: Mapping[object, object], depth: int) -> dict[str, JsonValue]:
        cleaned: dict[str, JsonValue] = {}
        for key, item in values.items():
            if self._left <= 0:
                cleaned[_free_key("…", cleaned)] = f"[truncated, {len(values):,} keys]"
                break
            name = db_text(key if isinstance(key, str) else str(_scalar(key)), MAX_KEY_CHARS)
            self._left -= len(name)
            cleaned[_free_key(name, cleaned)] = self.clean(item, depth)
        return cleaned


def _scalar(value: object) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        digits = value.bit_length() * 3 // 10
        return f"[integer of about {digits:,} digits]" if digits > MAX_INT_DIGITS else value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return f"[not JSON: {type(value).__name__}]"


def _free_key(name: str, taken: dict[str, JsonValue]) -> str:
    if name not in taken:
        return name  # escaping or cutting can make two keys one; neither value may be lost
    return next(key for n in count(2) if (key := f"{name} ⟦{n}⟧") not in taken)


def new_nonce() -> str:
    """128 random bits in hexadecimal."""
    return secrets.token_hex(16)


def fence(
    name: str, text: str, cap: int = FENCED_CHARS, nonce: Callable[[], str] = new_nonce
) -> str:
    """`text` as a block of a prompt that it cannot leave.

    The block's tag carries a nonce drawn after the text is known and not in it; whatever in the
    text could be read as a block's tag is neutralised; the body has at most `cap` characters.
    Raises ValueError for a block name that `BLOCK_NAMES` does not list.
    """
    if name not in BLOCK_NAMES:
        raise ValueError(f"block name must be one of {', '.join(BLOCK_NAMES)}, got {name!r}")
    body = bounded(neutralise(bounded(text, cap)), cap)
    tag = next(tag for _ in count() if (tag := nonce()) not in body)
    return f"<{name}-{tag}>\n{body}\n</{name}-{tag}>"
