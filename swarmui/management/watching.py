"""Watching a run: drawn live in a terminal, told line by line anywhere else."""

import time
import uuid
from collections.abc import Callable, Iterator
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from swarmui.management.tree_text import WORD_WIDTH, TreeRow, details, rows_of, tree_texts
from swarmui.management.words import word
from swarmui.selectors.tree import rows_after, skeleton
from verifier.framing import one_line
from verifier.lifecycle import TERMINAL

INTERVAL_S = 0.2
ROLE_CHARS = 24
GOAL_CHARS = 200


def wait_for_end(run_id: uuid.UUID) -> None:
    """Returns when the run's root has ended."""
    for _ in _changes(run_id):
        pass


def watch(run_id: uuid.UUID, goal: str, out: TextIO) -> None:
    """Shows the run until its root has ended."""
    console = Console(file=out, markup=False, highlight=False, emoji=False)
    if console.is_terminal and not console.is_dumb_terminal:
        _draw(run_id, goal, console)
    else:
        _tell(run_id, goal, lambda line: print(line, file=out, flush=True))


def _draw(run_id: uuid.UUID, goal: str, console: Console) -> None:
    head = Text(one_line(goal, GOAL_CHARS), style="bold")
    started = time.monotonic()

    def frame() -> Group:
        clock = Text(f"{time.monotonic() - started:6.1f} s", style="dim")
        return Group(head, *tree_texts(skeleton(run_id)["rows"]), clock)

    with Live(frame(), console=console, auto_refresh=False, vertical_overflow="ellipsis") as live:
        for _ in _changes(run_id):
            live.update(frame(), refresh=True)


def _tell(run_id: uuid.UUID, goal: str, say: Callable[[str], None]) -> None:
    """The goal, then one line per change of a node."""
    say(one_line(goal, GOAL_CHARS))
    started = time.monotonic()
    told: dict[str, tuple[str, int]] = {}
    for rows in _changes(run_id):
        for row in rows:
            state = (row.status, len(row.attempts))
            if told.get(row.id) == state:
                continue
            told[row.id] = state
            words = [
                f"{time.monotonic() - started:6.1f} s",
                f"{word(row.status):<{WORD_WIDTH}}",
                one_line(row.role, ROLE_CHARS),
                one_line(row.title, 60),
                *details(row),
                one_line(row.reason, 120),
            ]
            say("  ".join(word for word in words if word))


def _changes(run_id: uuid.UUID) -> Iterator[list[TreeRow]]:
    """Rows that changed, at most five times a second; ends with the run."""
    after, is_over = 0, False
    while not is_over:
        answer = rows_after(run_id, after)
        rows = rows_of(answer["rows"])
        # Rows may be newer than the seq they are given for: then they come once more.
        after = answer["seq"]
        is_over = any(row.parent is None and row.status in TERMINAL for row in rows)
        yield rows
        if not is_over:
            time.sleep(INTERVAL_S)
