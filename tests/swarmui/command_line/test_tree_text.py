"""The tree as text: order, what a line says, and hostile text that stays text."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from swarmui.management.summary import exit_code, summary_lines
from swarmui.management.tree_text import ICONS, MARK_WORDS, tree_lines, tree_texts
from swarmui.selectors.tree import COLUMNS
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
    assert "attempt 1 ended contract_failed" in tree_lines([ROOT, again])[1]


def test_unknown_tokens_are_not_shown_as_none_used() -> None:
    assert "token" not in tree_lines([row("a", None)])[0]
    assert "0 tokens" in tree_lines([row("a", None, tokens=0)])[0]


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


# --- the summary ---


def attempt(**fields: Any) -> dict[str, Any]:
    return {"number": 1, "receipt": None, "scorers": None, "mismatch": None, **fields}


def document(status: str = "ok", **node: Any) -> dict[str, Any]:
    own: dict[str, Any] = {
        "status": status, "role": "r", "title": "t", "reason": "", "chosen_attempt": 1,
        "chosen_because": "only_attempt", "replaced_by": None, "attempts": [attempt()], **node,
    }  # fmt: skip
    return {
        "id": "1", "status": status, "reason": "", "not_verified": True, "nodes": [own],
        "budget": {"tokens": {"spent": None}},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "code"),
    [("ok", 0), ("cache_hit", 0), ("running", 0), ("queued", 0), ("waiting", 3)]
    + [(status, 1) for status in ("contract_failed", "tool_error", "lost", "cancelled", "timeout")],
)
def test_the_exit_code_is_the_runs(status: str, code: int) -> None:
    assert exit_code(document(status)) == code


def test_what_is_unknown_is_said_to_be_unknown() -> None:
    text = "\n".join(summary_lines(document()))
    assert "effects unknown" in text
    assert "files touched unknown" in text
    assert "tokens: unknown" in text
    assert "none answered" in text
    assert " 0 " not in text


def test_what_was_not_checked_is_said_to_be_unchecked() -> None:
    scorers = {"ran": 1, "failures": [], "notEvaluated": [{}]}
    text = "\n".join(summary_lines(document(attempts=[attempt(scorers=scorers)])))
    assert "1 passed, 1 not evaluated" in text
    assert "Not verified" in text
