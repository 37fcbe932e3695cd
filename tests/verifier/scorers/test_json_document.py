"""`json`: a bare document or exactly one fenced block."""

import pytest
from pydantic import ValidationError

from verifier.scorers import ScorerOutcome
from verifier.scorers.json_document import JsonDocument

DOCUMENTS = [
    "{}",
    "[]",
    "0",
    "false",
    '"text"',
    "1e10",
    '  {"a": 1}\n',
    '{"a": {"b": [1, 2]}}',
    '```json\n{"a": 1}\n```',
    '```\n{"a": 1}\n```',
    '\n```json\n{\n  "a": 1\n}\n```\n\n',
    "~~~\n[]\n~~~",
    "````json\n[]\n````",
    '{"code": "```"}',  # a fence inside a string is text
    "[" * 64 + "]" * 64,
    {"a": 1},
    {},
    [],
    0,
    False,
    {"deep": [[[{}]]]},
    '{"é": "😀"}',
    '"\\u00e9"',
    "```json\n[]\r\n```",
    "-0.0",
]
NO_DOCUMENTS = [
    (None, "null"),
    ("", "nothing"),
    ("  \n", "nothing"),
    ("null", "null"),
    ("```\nnull\n```", "null"),
    ("hello", "not JSON"),
    ("{'a': 1}", "not JSON"),
    ('{"a": 1,}', "not JSON"),
    ('{"a": 1} and more', "Extra data"),
    ("{}{}", "Extra data"),
    ('Here it is: {"a": 1}', "not JSON"),
    ('Here it is:\n```json\n{"a": 1}\n```', "text around"),
    ("```json\n{}\n```\nDone.", "text around"),
    ("```json\n{}\n```\n```json\n{}\n```", "4 fence lines"),  # which of the two?
    ("```json\n{}", "1 fence lines"),
    ("```python\n{}\n```", "text around a fenced block"),  # says itself that it is no JSON
    ("```json\nnope\n```", "not JSON"),
    ("NaN", "NaN"),
    ('{"a": NaN}', "NaN"),
    ("-Infinity", "Infinity"),
    ("1e999", "out of range"),
    ("9" * 5_000, "digits"),
    ('{"a": 1, "a": 2}', "occurs twice"),
    ('{"x": {"a": 1, "a": 1}}', "occurs twice"),
    ("[" * 100_000 + "]" * 100_000, "nested deeper"),
    ('{"a":' * 100_000, "nested deeper"),
    ("[" * 65 + "]" * 65, "nested deeper"),
    ('"' + "a" * 50_000_000 + '"', "at most 1,000,000 bytes"),
    ('"\\u0000"', "NUL"),
    ('"\\ud800"', "surrogate"),
    ('"\ud800"', "surrogate"),
    ("\ufeff{}", "byte order mark"),
    ('"a\nb"', "not JSON"),
    (float("nan"), "not a JSON number"),
    ({"a": float("inf")}, "not a JSON number"),
    ({"a\x00": 1}, "NUL"),
]


@pytest.mark.parametrize("output", DOCUMENTS, ids=lambda value: ascii(value)[:40])
def test_a_document_passes(context, output):
    finding = JsonDocument().score(context(output))
    assert finding.outcome is ScorerOutcome.PASSED, finding.reason


@pytest.mark.parametrize(
    ("output", "reason"), NO_DOCUMENTS, ids=[ascii(row[0])[:40] for row in NO_DOCUMENTS]
)
def test_anything_else_fails_with_its_reason(context, output, reason):
    finding = JsonDocument().score(context(output))
    assert (finding.outcome, finding.retryable) == (ScorerOutcome.FAILED, True)
    assert finding.reason is not None
    assert reason in finding.reason


def test_null_passes_only_if_asked_for(context):
    asked = JsonDocument(allowNull=True)
    for output in (None, "null", "```\nnull\n```"):
        assert JsonDocument().score(context(output)).outcome is ScorerOutcome.FAILED
        assert asked.score(context(output)).outcome is ScorerOutcome.PASSED


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ('{"title": "x", "body": "y"}', None),
        ({"title": None, "body": ""}, None),  # required is presence, not content
        ('{"title": "x"}', "missing required keys: body"),
        ("{}", "missing required keys: title, body"),
        ({"Title": 1, "body": 1}, "missing required keys: title"),
        ('{"x": {"title": 1, "body": 1}}', "missing required keys: title, body"),  # top level only
        ("[]", "expected an object with required keys, got a list of 0"),
        ('["title", "body"]', "expected an object with required keys, got a list of 2"),
        ('"title body"', "expected an object with required keys, got a text of 10 characters"),
        ("0", "expected an object with required keys, got the value 0"),
        ("false", "expected an object with required keys, got the value false"),
    ],
)
def test_required_keys_need_an_object_that_has_them(context, output, reason):
    finding = JsonDocument(requiredKeys=("title", "body")).score(context(output))
    assert finding.reason == reason
    assert finding.outcome is (ScorerOutcome.FAILED if reason else ScorerOutcome.PASSED)


def test_null_is_no_object_even_if_asked_for(context):
    spec = JsonDocument(requiredKeys=("a",), allowNull=True)
    assert spec.score(context("null")).outcome is ScorerOutcome.FAILED


@pytest.mark.parametrize(
    "options",
    [
        {"requiredKeys": "title"},
        {"requiredKeys": [1]},
        {"requiredKeys": [""]},
        {"requiredKeys": ["x" * 201]},
        {"requiredKeys": ["x"] * 51},
        {"required_keys": ["x"]},  # the published name only
        {"allowNull": 1},
        {"schema": {}},
    ],
)
def test_a_wrong_option_is_refused(options):
    with pytest.raises(ValidationError):
        JsonDocument(**options)


def test_the_document_of_a_spec_bears_the_published_names():
    spec = JsonDocument(requiredKeys=("a",))
    assert spec.document() == {"kind": "json", "requiredKeys": ["a"], "allowNull": False}
