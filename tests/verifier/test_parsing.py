"""JSON that somebody else wrote: one document, or a reason."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.parsing import Parsed, ParseProblem, check_structure, parse_untrusted

ACCEPTED = [
    ("{}", {}),
    (" [1, 2.5, null, true] \n", [1, 2.5, None, True]),
    ('"é😀"', "é😀"),
    ('"\\ud83d\\ude00"', "😀"),  # a pair is one character
    (b'{"a": 1}', {"a": 1}),
    ("[" * 64 + "]" * 64, json.loads("[" * 64 + "]" * 64)),
    ('"[[[[' + "[" * 100 + '"', "[[[[" + "[" * 100),  # brackets in a string are no nesting
    ('"\\"[' + "[" * 100 + '"', '"[' + "[" * 100),
    ('{"a": {"a": 1}}', {"a": {"a": 1}}),
    ("1e308", 1e308),
    ("9" * 1_000, int("9" * 1_000)),
    ('"' + "a" * 999_998 + '"', "a" * 999_998),
    ('"\\\\u0000"', "\\u0000"),  # an escaped backslash, no NUL
]
REFUSED = [
    ("", "got nothing"),
    (" \n", "got nothing"),
    ("{", "not JSON"),
    ("nope", "not JSON"),
    ("{}{}", "Extra data"),
    ("{} trailing", "Extra data"),
    ("NaN", "NaN is not a JSON number"),
    ("[Infinity]", "Infinity is not"),
    ("-Infinity", "-Infinity is not"),
    ("1e999", "out of range"),
    ("-1e999", "out of range"),
    ("9" * 5_000, "got 5,000"),
    ("9" * 1_001, "got 1,001"),
    ('{"verdict": "FAIL", "verdict": "PASS"}', "'verdict' occurs twice"),
    ('{"a": [{"b": 1, "b": 1}]}', "'b' occurs twice"),
    ("[" * 65 + "]" * 65, "deeper than 64"),
    ("[" * 100_000, "deeper than 64"),
    ("[" * 100_000 + "]" * 100_000, "deeper than 64"),
    ('{"a":' * 100_000 + "1" + "}" * 100_000, "deeper than 64"),
    ('[{"a":' * 50_000, "deeper than 64"),
    ('"\\u0000"', "a NUL character"),
    ('{"\\u0000": 1}', "a NUL character"),
    ('"\\ud800"', "lone surrogate U+D800"),
    ('"\ud800"', "lone surrogate"),
    ("\ufeff{}", "byte order mark"),
    (b"\xef\xbb\xbf{}", "byte order mark"),
    ("{}".encode("utf-16"), "not UTF-8"),
    (b'"\xff"', "not UTF-8: byte 2 is 0xff"),
    ('"' + "a" * 20_000_000 + '"', "at most 1,000,000 bytes"),
    ("[" + ",".join(["{}"] * 1_000_000) + "]", "at most 1,000,000 bytes"),
    ('"' + "é" * 600_000 + '"', "at most 1,000,000 bytes"),  # few characters, many bytes
    ('"\x01"', "not JSON"),
    ('"' + '\\"' * 400_000, "not JSON"),  # many places to begin a string at
    ("'a'", "not JSON"),
    ('{"a": 1,}', "not JSON"),
    ("// x\n{}", "not JSON"),
]


@pytest.mark.parametrize(("text", "value"), ACCEPTED, ids=[ascii(t)[:30] for t, _ in ACCEPTED])
def test_one_document_is_its_value(text, value):
    assert parse_untrusted(text) == Parsed(value)


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[ascii(t)[:30] for t, _ in REFUSED])
def test_anything_else_is_refused_with_a_reason_and_at_once(text, reason):
    begun = time.process_time()
    problem = parse_untrusted(text)
    assert time.process_time() - begun < 0.25
    assert isinstance(problem, ParseProblem)
    assert reason in problem.reason
    assert len(problem.reason) < 300


def test_limits_can_be_narrowed():
    assert isinstance(parse_untrusted("[[1]]", max_depth=1), ParseProblem)
    assert isinstance(parse_untrusted("[1]", max_depth=1), Parsed)
    assert isinstance(parse_untrusted("[1, 2]", max_bytes=5), ParseProblem)


def test_a_hostile_key_is_quoted_harmlessly():
    key = "\\u001b[31m" + "x" * 10_000
    problem = parse_untrusted(f'{{"{key}": 1, "{key}": 2}}')
    assert isinstance(problem, ParseProblem)
    assert "\x1b" not in problem.reason
    assert len(problem.reason) < 200


@given(st.text() | st.binary())
def test_nothing_raises(text):
    assert isinstance(parse_untrusted(text), Parsed | ParseProblem)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
)  # fmt: skip


@given(PLAIN)
def test_what_is_written_is_read(value):
    assert parse_untrusted(json.dumps(value)) == Parsed(value)
    assert check_structure(value) is None


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "nan is not a JSON number"),
        ([[float("inf")]], "inf is not"),
        ({"a": "\x00"}, "NUL"),
        ({"\ud800": 1}, "surrogate"),
        (json.loads("[" * 65 + "]" * 65), "deeper than 64"),
    ],
)
def test_a_value_that_was_never_text_meets_the_same_rules(value, reason):
    problem = check_structure(value)
    assert problem is not None
    assert reason in problem.reason


def test_the_deepest_allowed_value_is_looked_at_to_its_core():
    deepest: object = float("nan")
    for _ in range(64):
        deepest = [deepest]
    assert check_structure(deepest) == ParseProblem("nan is not a JSON number")
    assert check_structure(json.loads("[" * 64 + "]" * 64)) is None
