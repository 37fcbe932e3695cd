"""How a run ended, in a few lines of text."""

from collections.abc import Iterator
from typing import Any

from swarmui.management.tree_text import ICONS, MARK_WORDS
from verifier.framing import one_line
from verifier.lifecycle import FAILED, NodeStatus

UNKNOWN = "unknown"
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
    for node in document["nodes"]:
        if node["attempts"]:
            yield from _node(node)
    status = NodeStatus(document["status"])
    tokens = document["budget"]["tokens"]["spent"]
    yield f"{ICONS[status]} run {document['id']}: {_word(status)}"
    if document["reason"]:
        yield f"  {one_line(document['reason'], 200)}"
    yield f"  tokens: {_number(tokens)}"
    if document["not_verified"]:
        yield f"  {NOT_VERIFIED}"


def _node(node: dict[str, Any]) -> Iterator[str]:
    status = NodeStatus(node["status"])
    name = one_line(f"{node['role']}  {node['title']}", 80)
    yield f"{ICONS[status]} {_word(status)}  {name}"
    last = next(
        (one for one in node["attempts"] if one["number"] == node["chosen_attempt"]),
        node["attempts"][-1],
    )
    facts = [_effects(last), _gates(last)]
    if len(node["attempts"]) > 1:
        chosen = _word(node["chosen_because"] or UNKNOWN)
        facts.insert(0, f"attempt {last['number']} of {len(node['attempts'])} ({chosen})")
    if node["replaced_by"]:
        facts.append("replaced by another node")
    yield f"    {'; '.join(facts)}"
    if last["mismatch"]:
        yield f"    {MARK_WORDS['receipt_mismatch']}: {one_line(last['mismatch'], 200)}"
    if node["reason"]:
        yield f"    {one_line(node['reason'], 200)}"


def _effects(attempt: dict[str, Any]) -> str:
    receipt = attempt["receipt"] or {}
    counts = receipt.get("sideEffects")
    touched = _number(receipt.get("filesTouched"))
    if counts is None:
        return f"receipt: effects {UNKNOWN}, files touched {touched}"
    return (
        f"receipt: {counts['toolCalls']} tool calls, {counts['filesChanged']} files changed, "
        f"{counts['commandsRun']} commands, files touched {touched}"
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


def _number(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def _word(code: str) -> str:
    return code.replace("_", " ")
