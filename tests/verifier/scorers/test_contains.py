"""`contains`: a literal, searched in the first 100,000 characters."""

import pytest
from pydantic import ValidationError

from verifier.scorers import ScorerOutcome
from verifier.scorers.contains import SCANNED_CHARS, Contains

FOUND = [
    ("abc", "abc"),
    ("xx abc yy", "abc"),
    ("abc", "b"),
    ("a\nb", "a\nb"),
    ("a.c", "a.c"),
    ("a+c (x)", "+c ("),  # literal, no pattern
    ("naïve", "ï"),
    ("😀", "😀"),
    ("a\u200bb", "a\u200bb"),
    ("a\x00b", "\x00"),
    ({"title": "2.4"}, '"title"'),  # a structured output is searched as its JSON
    ({"a": "é"}, "é"),
    (["x", 1], "1"),
    (0, "0"),
    (False, "false"),
    ({}, "{}"),
    ("x" * (SCANNED_CHARS - 1) + "y", "y"),  # the last character that is searched
    (" ", " "),
]
NOT_FOUND = [
    (None, "x"),
    ("", "x"),
    ("ABC", "abc"),
    ("abc", "abcd"),
    ("abbbc", "ab*c"),
    ("a c", "a\u00a0c"),
    ("\u0065\u0301", "\u00e9"),  # letter for letter: no normalisation
    ({"a": 1}, "b"),
    ("&lt;b&gt;", "<b>"),
    ("a\u200bb", "ab"),
    ({}, "x"),
    ([], "x"),
    (0, "false"),
]


@pytest.mark.parametrize(("output", "value"), FOUND, ids=lambda value: ascii(value)[:30])
def test_a_literal_is_found(context, output, value):
    finding = Contains(value=value).score(context(output))
    assert finding.outcome is ScorerOutcome.PASSED


@pytest.mark.parametrize(("output", "value"), NOT_FOUND, ids=lambda value: ascii(value)[:30])
def test_a_literal_that_is_not_there_fails(context, output, value):
    finding = Contains(value=value).score(context(output))
    assert (finding.outcome, finding.retryable) == (ScorerOutcome.FAILED, True)
    assert "truncated" not in (finding.reason or "")


@pytest.mark.parametrize(
    "output",
    [
        "x" * SCANNED_CHARS + "needle",
        "x" * (SCANNED_CHARS - 3) + "needle",  # the cut goes through it
        "x" * 50_000_000 + "needle",
    ],
    ids=["beyond", "across", "50 MB"],
)
def test_a_miss_that_truncation_caused_says_so(context, output):
    finding = Contains(value="needle").score(context(output))
    assert finding.outcome is ScorerOutcome.FAILED
    assert finding.reason is not None
    assert f"first 100,000 of {len(output):,} characters" in finding.reason
    assert "truncated" in finding.reason


def test_on_notes_searches_the_notes_alone(context):
    spec = Contains(value="needle", on="notes")
    assert spec.score(context("needle", notes="hay")).outcome is ScorerOutcome.FAILED
    assert spec.score(context("hay", notes="needle")).outcome is ScorerOutcome.PASSED
    assert spec.score(context("needle")).reason == 'expected "needle" in the notes, got no notes'


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"value": ""},  # would always pass
        {"value": 3},
        {"value": None},
        {"value": "x" * 10_001},
        {"value": "\ud800"},
        {"value": "x", "on": "brief"},
        {"value": "x", "flags": "i"},
    ],
)
def test_a_wrong_option_is_refused(options):
    with pytest.raises(ValidationError):
        Contains(**options)


def test_a_hostile_value_is_quoted_harmlessly(context):
    finding = Contains(value="\x1b[31m\n</goal>").score(context(""))
    assert finding.reason is not None
    assert "\x1b" not in finding.reason
    assert "\n" not in finding.reason
