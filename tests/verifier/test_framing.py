"""Foreign text stays text: before eyes and in the database."""

import json
import math
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.characters import CONTROLS, UNSEEN, has_content
from verifier.framing import bounded, db_json, db_text, one_line, visible

SHOWN = [
    ("plain\ttext\n", "plain\ttext\n"),
    ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
    ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "␛]8;;http://x␇link␛]8;;␇"),
    ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),  # writes the clipboard
    ("\x1bPq\x1b\\", "␛Pq␛\\"),
    ("\x1bc", "␛c"),
    ("\x9b31m", "⟦U+009B⟧31m"),
    ("\x9d0;x\x9c", "⟦U+009D⟧0;x⟦U+009C⟧"),
    ("\x85", "⟦U+0085⟧"),
    ("\x00", "␀"),
    ("\x07", "␇"),
    ("a\x08b", "a␈b"),
    ("good\rbad", "good␍bad"),  # overwrites the line on a terminal
    ("a\r\nb", "a␍\nb"),
    ("\x0b\x0c", "␋␌"),
    ("\x1f", "␟"),
    ("\x7f", "␡"),
    ("\u202aa\u202c", "⟦U+202A⟧a⟦U+202C⟧"),
    ("\u202b", "⟦U+202B⟧"),
    ("\u202d", "⟦U+202D⟧"),
    ("\u202egpj.exe", "⟦U+202E⟧gpj.exe"),
    ("\u2066\u2069", "⟦U+2066⟧⟦U+2069⟧"),
    ("\u2067", "⟦U+2067⟧"),
    ("\u2068", "⟦U+2068⟧"),
    ("\u200e\u200f", "⟦U+200E⟧⟦U+200F⟧"),
    ("\u061c", "⟦U+061C⟧"),
    ("a\u200bb", "a⟦U+200B⟧b"),
    ("a\u200db", "a⟦U+200D⟧b"),
    ("\u2060", "⟦U+2060⟧"),
    ("\ufeff", "⟦U+FEFF⟧"),
    ("\u00ad", "⟦U+00AD⟧"),
    ("\u3164", "⟦U+3164⟧"),
    ("\u2028\u2029", "⟦U+2028⟧⟦U+2029⟧"),
    ("\U000e0041", "⟦U+E0041⟧"),
    ("\ud800", "⟦U+D800⟧"),
    ("\uffff", "⟦U+FFFF⟧"),
    ("⚠️ 1️⃣", "⚠️ 1️⃣"),  # a symbol's style is no disguise
    ("a\ufe0f", "a⟦U+FE0F⟧"),
    ("\ufe0f", "⟦U+FE0F⟧"),
    ("é", "é"),
    ("e" + "\u0301" * 4, "e" + "\u0301" * 4),
    ("e" + "\u0301" * 10_000, "e" + "\u0301" * 4 + "⟦+9996 combining marks⟧"),
    ("<script>", "<script>"),  # a page escapes it; here it is text already
    ("שלום עולם", "שלום עולם"),
]


@pytest.mark.parametrize(("text", "shown"), SHOWN, ids=lambda value: ascii(value)[:30])
def test_what_acts_or_hides_is_spelt_out(text, shown):
    assert visible(text) == shown
    assert visible(shown) == shown


@given(st.text())
def test_what_is_shown_neither_acts_nor_hides(text):
    shown = visible(text)
    assert not re.search(f"[{CONTROLS}]", shown)
    unseen = [c for c in shown if unicodedata.category(c) in ("Cf", "Zl", "Zp", "Cs")]
    assert all(_draws_something(c) for c in unseen)


def _draws_something(char: str) -> bool:
    return unicodedata.name(char, "").endswith(("NUMBER SIGN", "SIGN SANAH", "MARK ABOVE")) or (
        "ARABIC" in unicodedata.name(char, "") or "KAITHI" in unicodedata.name(char, "")
    )


def test_every_format_character_without_a_shape_is_known_as_unseen():
    missed = [
        f"U+{code:04X}"
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in ("Cf", "Zl", "Zp")
        and not re.match(f"[{UNSEEN}]", chr(code))
        and not _draws_something(chr(code))
    ]
    assert missed == []


@pytest.mark.parametrize(
    ("text", "cap", "line"),
    [
        ("a", 10, "a"),
        ("  a \n\n b\t c ", 10, "a b c"),
        ("a\x85b", 30, "a⟦U+0085⟧b"),
        ("a\u2028b", 30, "a⟦U+2028⟧b"),
        ("a\rb", 10, "a␍b"),
        ("abcdef", 4, "abc…"),
        ("abcd", 4, "abcd"),
        (" " * 10_000 + "x", 4, "…"),  # too far behind to be looked for
        ("", 5, ""),
        ("\x1b[31m", 20, "␛[31m"),
        ("x" * 50_000_000, 10, "xxxxxxxxx…"),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_a_line_is_one_and_bounded(text, cap, line):
    assert one_line(text, cap) == line


@given(st.text(), st.integers(1, 50))
def test_a_line_is_never_two(text, cap):
    line = one_line(text, cap)
    assert len(line) <= cap
    assert len(line.splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "cap", "stored"),
    [
        ("abc", 3, "abc"),
        ("a\x00b", 10, "a␀b"),
        ("a\ud800b\udfff", 100, "a⟦U+D800⟧b⟦U+DFFF⟧"),
        ("x" * 100, 40, "x" * 16 + "… [truncated, 100 chars]"),
        ("\x1b[31m\u202e", 100, "\x1b[31m\u202e"),  # storable: treated where it is shown
        ("😀", 1, "😀"),
        ("abcdef", 3, "abc"),  # no room for the mark
        ("", 0, ""),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_text_is_stored_as_it_is_but_for_what_no_database_holds(text, cap, stored):
    assert db_text(text, cap) == stored


@given(st.text(alphabet=st.characters()), st.integers(0, 60))
def test_stored_text_fits_and_can_be_encoded(text, cap):
    stored = db_text(text, cap)
    assert len(stored) <= cap
    assert "\x00" not in stored
    stored.encode()
    assert bounded(stored, cap) == stored


def test_fifty_megabytes_are_stored_bounded_and_say_so():
    assert db_text("\x00" * 50_000_000, 1_000).endswith("… [truncated, 50,000,000 chars]")


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        ("a\x00", "a␀"),
        ({"k\ud800": ["\x00", {"x": 1}]}, {"k⟦U+D800⟧": ["␀", {"x": 1}]}),
        (float("nan"), "nan"),
        (-math.inf, "-inf"),
        ((1, 2), [1, 2]),
        ({1: "x", None: "y"}, {"1": "x", "None": "y"}),
        ({"a\x00": 1, "a␀": 2}, {"a␀": 1, "a␀ ⟦2⟧": 2}),  # neither is lost
        (b"x", "[not JSON: bytes]"),
        ({1, 2}, "[not JSON: set]"),
        (10**5_000, "[integer of about 4,983 digits]"),
        (10**30, 10**30),
    ],
    ids=lambda value: ascii(value)[:30] if not isinstance(value, int) else "int",
)
def test_any_value_becomes_json_a_database_holds(value, stored):
    assert db_json(value) == stored


def test_too_deep_a_value_is_cut_where_it_is_too_deep():
    value: object = "core"
    for _ in range(100_000):
        value = [value]
    text = json.dumps(db_json(value))
    assert text == "[" * 64 + '"[nested deeper than 64 levels]"' + "]" * 64


@pytest.mark.parametrize(
    "value",
    [
        "x" * 5_000_000,
        ["x"] * 3_000_000,
        {str(n): n for n in range(500_000)},
        [["xx" * 300_000]] * 9,
    ],
    ids=["text", "list", "keys", "texts"],
)
def test_too_large_a_value_is_cut_and_says_so(value):
    text = json.dumps(db_json(value, 100_000), ensure_ascii=False)
    assert len(text) < 1_000_000
    assert "truncated" in text


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet=st.characters()), inner),
)


@given(JSON_VALUES)
def test_stored_json_is_strict_json_and_stays_the_same(value):
    stored = db_json(value)
    json.dumps(stored, allow_nan=False).encode()
    assert "\\u0000" not in json.dumps(stored)
    assert db_json(stored) == stored


@pytest.mark.parametrize("text", ["x", " a", "日", "⚠️", "0"])
def test_what_is_drawn_is_content(text):
    assert has_content(text)
