"""How a run ended, told in a terminal: exit code, verdicts, reasons, and lines that fit."""

from __future__ import annotations

import io
from typing import Any

import pytest

from swarmui.management.summary import exit_code, failure_lines, summary_lines, write_lines


def attempt(**fields: Any) -> dict[str, Any]:
    return {"number": 1, "receipt": None, "scorers": None, "mismatch": None, **fields}


def node(id: str = "n", **fields: Any) -> dict[str, Any]:
    return {
        "id": id, "parent": "root", "branch": 0, "retry_of": None, "status": "ok", "role": id,
        "title": "t", "reason": "", "chosen_attempt": 1, "chosen_because": "only_attempt",
        "replaced_by": None, "attempts": [attempt()], **fields,
    }  # fmt: skip


def document(*nodes: dict[str, Any], status: str = "ok", **tokens: Any) -> dict[str, Any]:
    return {
        "id": "1", "status": status, "reason": "", "not_verified": True,
        "nodes": list(nodes) or [node()],
        "budget": {"tokens": {"spent": None, "unmetered_attempts": 0, **tokens}},
    }  # fmt: skip


def said(*nodes: dict[str, Any], **fields: Any) -> str:
    return "\n".join(summary_lines(document(*nodes, **fields)))


@pytest.mark.parametrize(
    ("status", "code"),
    [("ok", 0), ("cache_hit", 0), ("running", 0), ("queued", 0), ("waiting", 3)]
    + [(status, 1) for status in ("contract_failed", "tool_error", "lost", "cancelled", "timeout")],
)
def test_the_exit_code_is_the_runs(status: str, code: int) -> None:
    assert exit_code(document(status=status)) == code


def test_what_is_unknown_is_said_to_be_unknown() -> None:
    text = said()
    assert "effects unknown" in text
    assert "files touched unknown" in text
    assert "tokens: unknown" in text
    assert "none answered" in text
    assert " 0 " not in text


def test_a_sum_that_lacks_a_part_says_so() -> None:
    assert "tokens: 1,200, and unknown for 1 attempt" in said(spent=1200, unmetered_attempts=1)
    assert said(spent=1200).splitlines()[-2].strip() == "tokens: 1,200"


def test_what_was_not_checked_is_said_to_be_unchecked() -> None:
    scorers = {"ran": 1, "failures": [], "notEvaluated": [{}]}
    text = said(node(attempts=[attempt(scorers=scorers)]))
    assert "1 passed, 1 not evaluated" in text
    assert "Not verified" in text


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0 tool calls, 0 files changed, 0 commands"),
        (1, "1 tool call, 1 file changed, 1 command,"),
        (2, "2 tool calls, 2 files changed, 2 commands"),
    ],
)
def test_counts_agree_with_their_nouns(number: int, expected: str) -> None:
    effects = {"toolCalls": number, "filesChanged": number, "commandsRun": number}
    receipt = {"sideEffects": effects, "filesTouched": number}
    assert expected in said(node(attempts=[attempt(receipt=receipt)]))


def test_a_replacement_stands_beside_what_it_replaces() -> None:
    crashed = node("crashed", status="tool_error", replaced_by="stand-in")
    sibling, new = node("sibling", branch=1), node("stand-in", retry_of="crashed")
    text = said(crashed, sibling, new)  # in order of spawning
    assert text.index("crashed") < text.index("stand-in") < text.index("sibling")


def test_a_node_that_failed_before_it_began_is_told() -> None:
    text = said(node(status="budget", attempts=[], reason="3,000 tokens left, 4,000 needed"))
    assert "it was not begun" in text
    assert "3,000 tokens left" in text


def test_waiting_tells_why_a_run_failed_and_ends_with_its_status() -> None:
    lines = list(
        failure_lines(
            document(
                node("root", parent=None, status="tool_error", attempts=[]),  # mirrors its branch
                node("fine"),
                node("mended", status="tool_error", reason="a first crash", replaced_by="x"),
                node("bad", status="tool_error", reason="exit 3: no such file"),
                status="tool_error",
            )
        )
    )
    text = "\n".join(lines)
    assert "exit 3: no such file" in text
    assert not [name for name in ("root", "fine", "mended") if name in text]
    assert lines[-1] == "tool error"


def test_a_run_that_ended_well_is_one_word() -> None:
    assert list(failure_lines(document())) == ["ok"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


LINE = "    receipt: effects unknown, files touched unknown; gates: none answered at all"


@pytest.fixture
def forty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")


def test_a_terminal_gets_lines_broken_between_words(forty_columns: None) -> None:
    screen = Terminal()
    write_lines([LINE, "", "[bold]x"], screen)
    shown = screen.getvalue().splitlines()
    assert max(map(len, shown)) <= 40
    assert len([line for line in shown if line.startswith("    ")]) > 1
    assert " ".join(screen.getvalue().split()) == " ".join([*LINE.split(), "[bold]x"])


def test_a_file_gets_lines_whole(forty_columns: None) -> None:
    file = io.StringIO()
    write_lines([LINE, ""], file)
    assert file.getvalue() == f"{LINE}\n\n"
