"""`non_empty`: what a reader would see counts."""

import pytest

from verifier.scorers import ScorerOutcome
from verifier.scorers.non_empty import NonEmpty

EMPTY = [
    None,
    "",
    " ",
    "\t\n\r\n",
    "\u00a0\u2003\u3000",  # no-break, em and ideographic space
    "\u200b",  # zero-width space
    "\u200b\u200c\u200d\u2060\ufeff",
    " \u200b \n \u200b ",
    "\u00ad",  # soft hyphen
    "\u3164",  # Hangul filler: a letter by category, drawn as nothing
    "\u115f\u1160\uffa0",
    "\u2800",  # empty Braille cell
    "\u202e\u202c",  # bidirectional marks alone
    "\ufe0f",  # a style without a symbol
    "\U000e0041\U000e007f",  # tag characters
    "\x00",
    "\x1b\x07\x08",
    "\x7f\x85",
    "\ud800",  # a lone surrogate is no character
    "\u2028\u2029",
    "\u034f\u180e",
    "\u200b" * 1_000_000,
]
WITH_CONTENT = [
    "a",
    ".",
    "0",
    "null",  # the word, not the value
    "{}",
    " x ",
    "\u200bx",
    "日本語",
    "⚠️",
    "\u0301",  # a lone accent is drawn
    "\ufffd",  # the replacement character is drawn
    {},
    [],
    0,
    0.0,
    False,
    True,
    -1,
    {"a": None},
    [None],
    [""],
    "x" * 50_000_000,
    [[[[]]]],
    {"": ""},
    float("nan"),
]


@pytest.mark.parametrize("output", EMPTY, ids=lambda value: ascii(value)[:40])
def test_nothing_to_see_fails(context, output):
    finding = NonEmpty().score(context(output))
    assert finding.outcome is ScorerOutcome.FAILED
    assert finding.retryable
    assert finding.reason is not None
    assert finding.reason.startswith("expected an output, got")


@pytest.mark.parametrize("output", WITH_CONTENT, ids=lambda value: ascii(value)[:40])
def test_anything_else_is_content(context, output):
    assert NonEmpty().score(context(output)).outcome is ScorerOutcome.PASSED


def test_notes_are_not_the_output(context):
    assert NonEmpty().score(context(None, notes="all done")).outcome is ScorerOutcome.FAILED
