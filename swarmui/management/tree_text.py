"""The tree as lines of text: for the live view in a terminal, for replay, for the summary.

What a worker or a spec wrote is shown inert: one line, controls spelt out, no markup.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rich.text import Text

from swarmui.management.words import MARK_WORDS, STATUS_WORDS, counted, word
from swarmui.selectors.tree import COLUMNS
from verifier.framing import one_line
from verifier.lifecycle import TERMINAL, NodeStatus

ICONS: dict[NodeStatus, str] = {
    NodeStatus.QUEUED: "○",
    NodeStatus.RUNNING: "●",
    NodeStatus.WAITING: "◌",
    NodeStatus.OK: "✓",
    NodeStatus.CACHE_HIT: "=",
    NodeStatus.CONTRACT_FAILED: "✗",
    NodeStatus.TOOL_ERROR: "!",
    NodeStatus.PROVIDER_ERROR: "‼",
    NodeStatus.BUDGET: "¤",
    NodeStatus.TIMEOUT: "◷",
    NodeStatus.DENIED: "⊘",
    NodeStatus.CONCURRENCY_LIMIT: "≡",
    NodeStatus.CANCELLED: "−",
    NodeStatus.LOST: "?",
}
STYLES: dict[NodeStatus, str] = {
    NodeStatus.QUEUED: "dim",
    NodeStatus.RUNNING: "bold blue",
    NodeStatus.WAITING: "magenta",
    NodeStatus.OK: "green",
    NodeStatus.CACHE_HIT: "cyan",
    NodeStatus.CONTRACT_FAILED: "yellow",
    NodeStatus.CANCELLED: "dim",
}
FAILED_STYLE = "red"
WORD_WIDTH = max(map(len, STATUS_WORDS.values()))
TITLE_CHARS = 70
NUMBER, OUTCOME = 0, 3  # places in an attempt of a row


class Placed(Protocol):
    """What has a place in a tree. `branch`: its index among its siblings, None for the first."""

    @property
    def id(self) -> str: ...
    @property
    def parent(self) -> str | None: ...
    @property
    def branch(self) -> int | None: ...


P = TypeVar("P", bound=Placed)


@dataclass(frozen=True)
class TreeRow:
    """One row of a tree skeleton, by name. `attempts` as in the skeleton."""

    id: str
    parent: str | None
    retry_of: str | None
    kind: str
    depth: int
    branch: int | None
    role: str
    title: str
    status: NodeStatus
    reason: str
    tokens: int | None
    attempts: list[list[Any]]
    marks: list[str]
    spawned: int | None


def rows_of(skeleton_rows: Iterable[Sequence[Any]]) -> list[TreeRow]:
    """Rows of a skeleton by name."""
    named = (dict(zip(COLUMNS, row, strict=True)) for row in skeleton_rows)
    return [TreeRow(**{**row, "status": NodeStatus(row["status"])}) for row in named]


def in_tree_order(rows: Sequence[P]) -> Iterator[tuple[str, P]]:
    """Each row below its parent, branches in order, a replacement after the node it replaces;
    with the lines that lead to it."""
    children: dict[str | None, list[P]] = {}
    known = {row.id for row in rows}
    for row in rows:
        children.setdefault(row.parent if row.parent in known else None, []).append(row)
    stack = [("", "", row) for row in reversed(_ordered(children.get(None, [])))]
    while stack:
        lead, own, row = stack.pop()
        yield lead + own, row
        below = lead + {"": "", "├─ ": "│  ", "└─ ": "   "}[own]
        siblings = _ordered(children.get(row.id, []))
        for index in range(len(siblings) - 1, -1, -1):
            is_last = index == len(siblings) - 1
            stack.append((below, "└─ " if is_last else "├─ ", siblings[index]))


def _ordered(siblings: list[P]) -> list[P]:
    # Spawn order is given, and a sort is stable: a replacement comes after what it replaces.
    return sorted(siblings, key=lambda row: -1 if row.branch is None else row.branch)


def tree_lines(skeleton_rows: Iterable[Sequence[Any]]) -> list[str]:
    """The tree as plain lines."""
    return [line.plain for line in tree_texts(skeleton_rows)]


def tree_texts(skeleton_rows: Iterable[Sequence[Any]]) -> list[Text]:
    """The tree as coloured lines; status as icon, word and colour."""
    return [_line(lead, row) for lead, row in in_tree_order(rows_of(skeleton_rows))]


def _line(lead: str, row: TreeRow) -> Text:
    style = STYLES.get(row.status, FAILED_STYLE)
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(f"{ICONS[row.status]} {word(row.status):<{WORD_WIDTH}} ", style=style)
    line.append(lead, style="dim")
    line.append(one_line(row.role, TITLE_CHARS), style="bold")
    # Before the title, which may be long: a narrow terminal cuts lines at their end.
    for mark in row.marks:
        line.append(f"  [{MARK_WORDS.get(mark) or word(mark)}]", style="bold yellow")
    if row.title:
        line.append(f"  {one_line(row.title, TITLE_CHARS)}")
    for detail in details(row):
        line.append(f"  {detail}", style="dim")
    return line


def details(row: TreeRow) -> list[str]:
    """What else a line says: how the attempt before ended, tokens, what it stands in for."""
    said = []
    if row.retry_of is not None:
        said.append("in place of the one above")
    ended = [attempt for attempt in row.attempts if attempt[OUTCOME] is not None]
    if ended and row.status not in TERMINAL:
        said.append(f"attempt {ended[-1][NUMBER]} ended {word(ended[-1][OUTCOME])}")
    if len(row.attempts) > 1:
        said.append(f"attempt {len(row.attempts)}")
    if row.tokens is not None:
        said.append(counted(row.tokens, "token"))
    return said
