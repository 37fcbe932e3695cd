"""How a run ended, in a few lines of text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from swarmui.management.tree_text import ICONS, in_tree_order
from swarmui.management.words import MARK_WORDS, UNKNOWN, counted, word
from verifier.framing import one_line
from verifier.lifecycle import FAILED, NodeStatus

NOT_VERIFIED = "Not verified: nobody has checked the answers against the goal."


def exit_code(document: dict[str, Any]) -> int:
    """0 when the run ended well or goes on, 1 when it failed, 3 when it waits for a person. A node
    that was replaced by one that succeeded does not fail the run."""
    status = document["status"]
    if status == NodeStatus.WAITING:
        return 3
    return 1 if status in FAILED else 0


def summary_lines(document: dict[str, Any]) -> Iterator[str]:
    """Per node its end, attempts, effects and gates; then the run."""
    for node in _in_tree_order(document["nodes"]):
        if node["attempts"] or _failed_by_itself(node):
            yield from _node(node)
    status = NodeStatus(document["status"])
    yield f"{ICONS[status]} run {document['id']}: {word(status)}"
    if document["reason"]:
        yield f"  {one_line(document['reason'], 200)}"
    yield f"  tokens: {_tokens(document['budget']['tokens'])}"
    if document["not_verified"]:
        yield f"  {NOT_VERIFIED}"


def failure_lines(document: dict[str, Any]) -> Iterator[str]:
    """Which nodes failed for good, and why; then the run's status in a word."""
    for node in _in_tree_order(document["nodes"]):
        if _failed_by_itself(node) and not node["replaced_by"]:
            yield from _node(node)
    yield word(document["status"])


def write_lines(lines: Iterable[str], out: TextIO) -> None:
    """Lines as they are; in a terminal broken between words, each part as far in as its line."""
    console = Console(file=out, markup=False, highlight=False, emoji=False)
    for line in lines:
        if not console.is_terminal:
            out.write(f"{line}\n")
            continue
        text = line.lstrip(" ")
        lead = " " * (len(line) - len(text))
        for part in Text(text).wrap(console, max(20, console.width - len(lead))):
            out.write(f"{lead}{part.plain.rstrip()}\n")
    out.flush()


@dataclass(frozen=True)
class _Placed:
    id: str
    parent: str | None
    branch: int | None
    node: dict[str, Any]


def _in_tree_order(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    rows = [_Placed(node["id"], node["parent"], node["branch"], node) for node in nodes]
    return (row.node for _, row in in_tree_order(rows))


def _failed_by_itself(node: dict[str, Any]) -> bool:
    """Whether it failed, and does not merely speak for the branches below it."""
    has_work = bool(node["attempts"]) or node["parent"] is not None
    return node["status"] in FAILED and has_work


def _node(node: dict[str, Any]) -> Iterator[str]:
    status = NodeStatus(node["status"])
    name = one_line(f"{node['role']}  {node['title']}", 80)
    yield f"{ICONS[status]} {word(status)}  {name}"
    last = next(
        (one for one in node["attempts"] if one["number"] == node["chosen_attempt"]),
        node["attempts"][-1] if node["attempts"] else None,
    )
    facts = ["it was not begun"] if last is None else [_effects(last), _gates(last)]
    if last is not None and len(node["attempts"]) > 1:
        chosen = word(node["chosen_because"] or UNKNOWN)
        facts.insert(0, f"attempt {last['number']} of {len(node['attempts'])} ({chosen})")
    if node["retry_of"]:
        facts.insert(0, "in place of one that failed")
    if node["replaced_by"]:
        facts.append("replaced by another node")
    yield f"    {'; '.join(facts)}"
    if last is not None and last["mismatch"]:
        yield f"    {MARK_WORDS['receipt_mismatch']}: {one_line(last['mismatch'], 200)}"
    if node["reason"]:
        yield f"    {one_line(node['reason'], 200)}"


def _tokens(budget: dict[str, Any]) -> str:
    spent, unmetered = budget["spent"], budget["unmetered_attempts"]
    if spent is None:
        return UNKNOWN
    rest = f", and {UNKNOWN} for {counted(unmetered, 'attempt')}" if unmetered else ""
    return f"{spent:,}{rest}"


def _effects(attempt: dict[str, Any]) -> str:
    receipt = attempt["receipt"] or {}
    counts = receipt.get("sideEffects")
    touched = receipt.get("filesTouched")
    on_disk = "files touched " + (UNKNOWN if touched is None else f"{touched:,}")
    if counts is None:
        return f"receipt: effects {UNKNOWN}, {on_disk}"
    return (
        f"receipt: {counted(counts['toolCalls'], 'tool call')}, "
        f"{counted(counts['filesChanged'], 'file')} changed, "
        f"{counted(counts['commandsRun'], 'command')}, {on_disk}"
    )


def _gates(attempt: dict[str, Any]) -> str:
    gates = attempt["scorers"]
    if gates is None:
        return "gates: none answered"
    failed, skipped = len(gates["failures"]), len(gates["notEvaluated"])
    said = [f"gates: {gates['ran'] - failed} passed"]
    if failed:
        said.append(f"{failed} failed")
    if skipped:
        said.append(f"{skipped} not evaluated")
    return ", ".join(said)
