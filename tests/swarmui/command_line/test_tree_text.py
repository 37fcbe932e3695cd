"""The tree as text: order, what a line says, and hostile text that stays text."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from swarmui.management.tree_text import ICONS, tree_lines, tree_texts
from swarmui.management.words import MARK_WORDS, word
from swarmui.selectors.tree import COLUMNS
from swarmui.views.vocabulary import MARKS, STATUSES
from verifier.lifecycle import NodeStatus
from verifier.marks import Mark


def row(id: str, parent: str | None = "root", **columns: Any) -> list[Any]:
    """A row of a skeleton; what is not given is as dull as can be."""
    dull: dict[str, Any] = {
        "id": id, "parent": parent, "retry_of": None, "kind": "agent", "depth": 1, "branch": None,
        "role": id, "title": "", "status": "ok", "reason": "", "tokens": None, "attempts": [],
        "marks": [], "spawned": 0,
    }  # fmt: skip
    return [{**dull, **columns}[column] for column in COLUMNS]


ROOT = row("root", None, status="waiting")


def test_branches_stand_below_their_parent_in_order() -> None:
    lines = tree_lines(
        [ROOT, row("b", branch=1), row("a", branch=0), row("a1", parent="a"), row("c", branch=2)]
    )
    assert [line.split()[-1] for line in lines] == ["root", "a", "a1", "b", "c"]
    assert "└─ c" in lines[-1]
    assert "│  └─ a1" in lines[2]


def test_a_replacement_follows_what_it_replaces() -> None:
    crashed = row("crashed", branch=0, status="tool_error")
    standing_in = row("new", branch=0, retry_of="crashed")
    lines = tree_lines([ROOT, crashed, row("other", branch=1), standing_in])
    assert [line.split()[-1] for line in lines][1] == "crashed"
    assert "in place of the one above" in lines[2]


def test_a_row_whose_parent_is_unknown_is_not_lost() -> None:
    assert len(tree_lines([row("orphan", parent="gone")])) == 1


def test_a_line_tells_of_the_attempt_before() -> None:
    again = row(
        "a", status="running", attempts=[[1, 0, 9, "contract_failed", 0], [2, 9, None, None, 0]]
    )
    assert "attempt 1 ended contract failed" in tree_lines([ROOT, again])[1]


def test_unknown_tokens_are_not_shown_as_none_used() -> None:
    assert "token" not in tree_lines([row("a", None)])[0]
    assert "0 tokens" in tree_lines([row("a", None, tokens=0)])[0]


def test_one_token_is_one_token() -> None:
    assert tree_lines([row("a", None, tokens=1)])[0].endswith("1 token")


def test_the_words_are_those_of_the_pages() -> None:
    assert {code: word(code) for code in STATUSES} == {
        code: status.word for code, status in STATUSES.items()
    }
    assert {code: mark.word for code, mark in MARKS.items()} == MARK_WORDS


def test_a_line_says_the_status_as_a_person_reads_it() -> None:
    line = tree_lines([row("a", None, status="concurrency_limit")])[0]
    assert "fan-out limit" in line
    assert "_" not in tree_lines([row("a", None, status="tool_error")])[0]


def test_a_narrow_terminal_cuts_the_title_before_the_mark() -> None:
    narrow = io.StringIO()
    marked = row("quality", branch=0, title="a title that is long " * 3, marks=["receipt_mismatch"])
    Console(file=narrow, width=60, color_system=None).print(*tree_texts([ROOT, marked]), sep="\n")
    assert "[receipt disagrees]" in narrow.getvalue()


def test_every_status_has_a_sign_of_its_own_and_every_mark_its_words() -> None:
    assert set(ICONS) == set(NodeStatus)
    assert len(set(ICONS.values())) == len(ICONS)
    assert set(MARK_WORDS) == set(Mark)


@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b[2J\x1b]0;owned\x07",  # clears the screen, names the window
        "one\r\ntwo\nthree",  # would begin new lines of the tree
        "\u202eevil",  # reads backwards
        "[bold red]not markup[/]",
        "nul\x00byte",
        "lone\ud800surrogate",
        "x" * 10_000,
    ],
)
def test_hostile_text_stays_on_its_line(hostile: str) -> None:
    texts = tree_texts([row("a", None, role=hostile, title=hostile)])
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, markup=False, width=400, color_system=None)
    console.print(*texts)
    shown = screen.getvalue().rstrip("\n")
    assert "\n" not in shown
    assert not {"\x1b", "\r", "\x00", "\x07", "\u202e"} & set(shown)
    assert len(shown) < 250
    shown.encode("utf-8")
