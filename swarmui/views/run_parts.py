"""What the head of a run shows, taken from a run document."""

from pathlib import PurePath
from typing import Any

from swarmui.templatetags.ui import duration, tokens, usd
from swarmui.views import vocabulary
from swarmui.views.node_parts import milliseconds
from verifier.lifecycle import TERMINAL, NodeStatus

Document = dict[str, Any]

GOAL_IN_HEAD = 400
GOAL_ON_A_PHONE = 100  # about three lines of it
CLASSES_IN_LIST = 3


def head_context(run: Document) -> Document:
    """Everything `runs/_summary.html` needs."""
    return {
        "run": run,
        "counts": vocabulary.in_order(run["counts"]),
        "budget": budget_lines(run["budget"]),
        "took_ms": milliseconds(run["created_at"], run["ended_at"]),
        "workspace_name": PurePath(run["workspace"]["source"] or "").name,
        "goal_is_long": len(run["goal"]) > GOAL_IN_HEAD or "\n" in run["goal"].strip(),
        "goal_is_long_on_a_phone": len(run["goal"]) > GOAL_ON_A_PHONE,
        "is_over": run["status"] in TERMINAL,
    }


def budget_lines(budget: Document) -> Document:
    """Money first where a cap or a price is known, else tokens. Unknown is said, never counted."""
    money, used = budget["usd"], budget["tokens"]
    lines = []
    shows_money = money["cap"] is not None or bool(money["spent"])
    if shows_money:
        headline = _at_least(usd(money["spent"]), money["unpriced_attempts"])
        if money["spent"] is None:
            headline = "cost unknown"
        of = f"of {usd(money['cap'])}" if money["cap"] is not None else "no cap on cost"
        lines.append(_token_line(used))
        meter = _meter(money, "cost")
    else:
        headline = _spent_words(used)
        of = f"of {tokens(used['cap'])}" if used["cap"] is not None else "no cap"
        reserved = f"{tokens(used['reserved'])} reserved" if used["reserved"] else ""
        lines.append(" · ".join(filter(None, (reserved, "no cost was reported"))))
        meter = _meter(used, "tokens")
    unknown = _unknown_line(
        money["unpriced_attempts"] if shows_money else 0, used["unmetered_attempts"]
    )
    return {
        "headline": headline,
        "of": of,
        "lines": [line for line in (*lines, unknown) if line],
        "meter": meter,
    }


def _token_line(used: Document) -> str:
    spent = _spent_words(used)
    cap = f" of {tokens(used['cap'])}" if used["cap"] is not None else ""
    reserved = f", {tokens(used['reserved'])} reserved" if used["reserved"] else ""
    return f"{spent}{cap}{reserved}"


def _spent_words(used: Document) -> str:
    """What is known; a sum with unknown parts is a least one."""
    if used["spent"] is None:
        return "tokens unknown"
    return _at_least(f"{tokens(used['spent'])} tokens", used["unmetered_attempts"])


def _at_least(words: str, unknown_parts: int) -> str:
    return f"≥ {words}" if unknown_parts else words


def _unknown_line(unpriced: int, unmetered: int) -> str:
    parts = []
    if unmetered:
        parts.append(f"{unmetered} attempt{'s' * (unmetered > 1)} of unknown usage")
    if unpriced > unmetered:
        parts.append(f"{unpriced} of unknown price")
    return f"Not counted: {', '.join(parts)}." if parts else ""


def _meter(amount: Document, what: str) -> Document | None:
    """Shares of the cap in percent, for a bar; None without a cap or without a known spending."""
    cap, spent = amount["cap"], amount["spent"]
    if not cap or spent is None:
        return None
    used = min(100.0, 100 * spent / cap)
    held = min(100.0 - used, 100 * (amount["reserved"] or 0) / cap)
    return {
        "spent": f"{used:.1f}",
        "reserved": f"{held:.1f}",
        "over": spent > cap,
        "label": f"{what}: {used:.0f} % spent, {held:.0f} % reserved",
    }


def list_row(run: Document) -> Document:
    """A run as one row of the list."""
    budget = run["budget"]
    money, used = budget["usd"], budget["tokens"]
    spent = [usd(money["spent"])] if money["spent"] else []
    known = used["spent"] is not None
    spent.append(f"{tokens(used['spent'])} tokens" if known else "tokens unknown")
    failures = vocabulary.failures_first(run["counts"])
    at_work = run["counts"].get(NodeStatus.RUNNING, 0)
    room = CLASSES_IN_LIST - bool(at_work)
    return run | {
        "at_work": at_work,
        "failures": failures[:room],
        "failures_rest": sum(number for _, number in failures[room:]),
        "spent": " · ".join(spent),
        "spent_is_partial": known and bool(used["unmetered_attempts"]),
        "took": duration(milliseconds(run["created_at"], run["ended_at"])),
    }
