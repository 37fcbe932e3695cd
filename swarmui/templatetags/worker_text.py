"""Filters for text that came from outside: workers, models, repositories, specs.

They return plain strings, so that the template's own escaping still comes after them.
"""

import json
from typing import Any

from django import template

from verifier import framing

register = template.Library()

SHOWN_CHARS = 200_000  # more helps no reader; the API has the whole


@register.filter
def visible(text: object) -> str:
    """Foreign text with everything that controls, hides or reverses spelt out; bounded."""
    return framing.visible(framing.bounded(_text(text), SHOWN_CHARS))


@register.filter
def one_line(text: object, cap: int) -> str:
    """The same on one line of at most `cap` characters."""
    return framing.one_line(_text(text), cap)


@register.filter
def pretty(value: object) -> str:
    """A JSON value for reading: text as it is, everything else indented; visible and bounded."""
    if isinstance(value, str):
        return visible(value)
    return visible(json.dumps(value, indent=2, ensure_ascii=False, default=str))


@register.filter
def gist(value: Any, cap: int) -> str:
    """A JSON value on one line of at most `cap` characters."""
    if isinstance(value, str):
        return framing.one_line(value, cap)
    return framing.one_line(json.dumps(value, ensure_ascii=False, default=str), cap)


def _text(value: object) -> str:
    return "" if value is None else str(value)
