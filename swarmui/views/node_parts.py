"""What the tabs of the node panel show, taken from a node document."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from swarmui.adapters.models.instructions import instructions_for
from swarmui.views import vocabulary
from swarmui.views.gate_words import gate_words, gates_of
from swarmui.views.trajectory_parts import entry_parts
from verifier.lifecycle import TERMINAL, WorkerKind
from verifier.retry import ChosenBecause
from verifier.verdicts import ScorerOutcome

Document = dict[str, Any]

TABS = {
    "brief": "Brief",
    "output": "Output",
    "receipt": "Receipt",
    "gates": "Gates",
    "attempts": "Attempts",
    "trajectory": "Trajectory",
    "events": "Events",
}
DEFAULT_TAB = "output"
PER_ATTEMPT = frozenset({"brief", "output", "receipt", "gates", "trajectory"})
ENTRIES_SHOWN = 300

_MEASURED = "sideEffects"


@dataclass(frozen=True)
class Asked:
    """What the address names: a tab, and an attempt by number (None: the one that stands)."""

    tab: str
    attempt: int | None

    @classmethod
    def of(cls, query: Any) -> "Asked":
        """From a query; what it cannot mean falls back, so that no deep link is a dead end."""
        tab = query.get("tab", "")
        number = query.get("attempt", "")
        is_number = number.isascii() and number.isdigit() and len(number) < 6
        return cls(tab if tab in TABS else DEFAULT_TAB, int(number) if is_number else None)


def panel_context(node: Document, asked: Asked) -> Document:
    """Everything `nodes/_panel.html` needs."""
    attempt = _shown_attempt(node, asked.attempt)
    run_url = reverse("run", args=[node["run"]])

    def url(tab: str, number: int | None = None, node_id: str = node["id"]) -> str:
        query = {"node": node_id, "tab": tab} | ({"attempt": number} if number else {})
        return f"{run_url}?{urlencode(query)}"

    shown = attempt["number"] if attempt else None
    kept = shown if asked.attempt and shown == asked.attempt else None
    return {
        "node": node,
        "tab": asked.tab,
        "tab_template": f"nodes/_{asked.tab}.html",
        "tab_is_per_attempt": asked.tab in PER_ATTEMPT,
        "tabs": [
            {
                "code": code,
                "word": word,
                "url": url(code, kept),
                "is_shown": code == asked.tab,
                "count": _tab_count(code, node),
            }
            for code, word in TABS.items()
        ],
        "close_url": run_url,
        "events_url": url("events"),
        "retry_of_url": url(asked.tab, None, node["retry_of"]) if node["retry_of"] else None,
        "replaced_by_url": url(asked.tab, None, node["replaced_by"])
        if node["replaced_by"]
        else None,
        "made_by": node["status_seq"],
        "attempt": attempt,
        "no_attempt": _why_no_attempt(node),
        "attempts": [
            one
            | {
                "url": url(asked.tab, one["number"]),
                "brief_url": url("brief", one["number"]),
                "is_shown": one["number"] == shown,
                "stands": one["number"] == node["chosen_attempt"],
                "took_ms": milliseconds(one["started_at"], one["ended_at"]),
                "failures": (one["scorers"] or {}).get("failures"),
                "gates_line": _gates_line(one),
            }
            for one in node["attempts"]
        ],
        **_TAB_CONTEXTS[asked.tab](node, attempt),
    }


def _shown_attempt(node: Document, number: int | None) -> Document | None:
    attempts = {one["number"]: one for one in node["attempts"]}
    if number in attempts:
        return attempts[number]
    if node["chosen_attempt"] in attempts:
        return attempts[node["chosen_attempt"]]
    return attempts[max(attempts)] if attempts else None


def _why_no_attempt(node: Document) -> str:
    if node["worker"] is None:
        return "It does no work of its own: what it waits for is below it in the tree."
    if node["status"] in TERMINAL:
        return "It ended without an attempt."
    return "It has not been started."


def _tab_count(code: str, node: Document) -> int | None:
    return len(node["attempts"]) if code == "attempts" and len(node["attempts"]) > 1 else None


def milliseconds(start: datetime | None, end: datetime | None) -> float | None:
    """From `start` to `end`; None while one of them is unknown."""
    return None if start is None or end is None else (end - start).total_seconds() * 1000


def _gates_line(attempt: Document) -> str:
    scorers = attempt["scorers"]
    if scorers is None:
        return ""
    outcomes = Counter(one["outcome"] for one in scorers["results"])
    said = [
        f"{outcomes[code]} {word}" for code, (word, *_) in _GATE_WORDS.items() if outcomes[code]
    ]
    gates = "gate" if outcomes.total() == 1 else "gates"
    return f"{gates}: {', '.join(said)}"


def _brief(node: Document, attempt: Document | None) -> Document:
    is_model = (node["worker"] or {}).get("kind") == WorkerKind.MODEL
    shape = (node["expected_output"] or {}).get("shape", "text")
    return {
        "worker_line": _worker_line(node, attempt),
        "tools_line": (", ".join(node["tools"]) if is_model else "") or "none",
        "instructions": instructions_for(node["role"], shape) if is_model else "",
        "gates": gates_of(node),
    }


def _worker_line(node: Document, attempt: Document | None) -> str:
    worker = node["worker"] or {}
    if worker.get("kind") == "command":
        return f"program: {' '.join(worker.get('argv') or ())}"
    model = (attempt or {}).get("model")
    if node["worker"] is None and attempt is None:
        return "none of its own: it waits for its branches"
    return f"model: {model}" if model else "a model"


def _output(_node: Document, attempt: Document | None) -> Document:
    return {"mismatch": (attempt or {}).get("mismatch")}


def _receipt(_node: Document, attempt: Document | None) -> Document:
    shown = attempt or {}
    return {
        "receipt": shown.get("receipt"),
        "unavailable": [
            _reason(line) for line in (shown.get("receipt") or {}).get("unavailable", ())
        ],
        "mismatch": shown.get("mismatch"),
        "files": shown.get("files_named"),
    }


def _reason(line: str) -> str:
    """A line of a receipt's `unavailable` without the name of the field it is about."""
    text = line.removeprefix(f"{_MEASURED}: ")
    return text[:1].upper() + text[1:]


_GATE_WORDS = {
    ScorerOutcome.PASSED: ("passed", "good", "ok"),
    ScorerOutcome.FAILED: ("failed", "bad", "fail"),
    ScorerOutcome.NOT_EVALUATED: ("not evaluated", "", "not-verified"),
}
_GATE_BROKE = ("the check broke", "warn", "warn")
_GATE_UNKNOWN = ("unknown outcome", "", "unknown")


def _gates(node: Document, attempt: Document | None) -> Document:
    scorers = (attempt or {}).get("scorers")
    rows = []
    for one in (scorers or {}).get("results", ()):
        outcome = one["outcome"]
        word, tone, icon = _GATE_BROKE if one["broke"] else _GATE_WORDS.get(outcome, _GATE_UNKNOWN)
        asks = gate_words({**one["spec"], "kind": one["kind"]})
        rows.append(one | {"word": word, "tone": tone, "icon": icon, "asks": asks})
    return {"gate_results": rows, "no_gates": _why_no_gates(node, attempt)}


def _why_no_gates(node: Document, attempt: Document | None) -> str:
    if attempt is None:
        return _why_no_attempt(node)
    if attempt["outcome"] is None:
        return "Gates run after the worker has returned."
    if not node["gates"]:
        return "No gate was asked for, and none was run."
    return "No gate was run: the worker did not return a result."


def _attempts(node: Document, _attempt: Document | None) -> Document:
    number, because = node["chosen_attempt"], node["chosen_because"]
    if number is None:
        return {"chosen_line": ""}
    reason = vocabulary.chosen_words(because or "")
    if because == ChosenBecause.ONLY_ATTEMPT and node["replaced_by"]:
        reason = "this node had no other"
    return {"chosen_line": f"Attempt {number} stands{': ' if reason else ''}{reason}."}


def _trajectory(node: Document, attempt: Document | None) -> Document:
    entries = (attempt or {}).get("trajectory") or []
    if attempt is None:
        nothing = _why_no_attempt(node)
    elif attempt["worker"] == "command":
        nothing = "A program's own steps are not seen: only what it was given and gave back."
    else:
        nothing = "It called no tool." if attempt["outcome"] else "It has called no tool yet."
    return {
        "trajectory": [entry_parts(entry) for entry in entries[:ENTRIES_SHOWN]],
        "trajectory_rest": max(0, len(entries) - ENTRIES_SHOWN),
        "no_trajectory": nothing,
    }


def _events(node: Document, _attempt: Document | None) -> Document:
    return {
        "events": [
            event
            | {
                "status": event["payload"].get("status"),
                "reason": event["payload"].get("reason"),
            }
            for event in node["events"]
        ]
    }


_TAB_CONTEXTS = {
    "brief": _brief,
    "output": _output,
    "receipt": _receipt,
    "gates": _gates,
    "attempts": _attempts,
    "trajectory": _trajectory,
    "events": _events,
}
