"""The words, icons and groups under which statuses and marks are shown.

Pages and scripts take all of it from here; a script decides no status. Colours are in
`static/css/status.css`, icons in `templates/components/icons.html`.
"""

from dataclasses import asdict, dataclass
from typing import Any

from verifier.characters import COMBINING, CONTROLS, SURROGATES, UNSEEN
from verifier.framing import MARKS_KEPT, one_line
from verifier.lifecycle import FAILED, SUCCEEDED, TERMINAL, WORST_FIRST, NodeStatus
from verifier.marks import Mark
from verifier.retry import ChosenBecause


@dataclass(frozen=True)
class StatusWord:
    """How a status is said. `group` is the filter chip it is counted under."""

    code: str
    word: str
    icon: str
    group: str
    means: str


@dataclass(frozen=True)
class Group:
    """A class of statuses that one looks for together."""

    code: str
    word: str
    lead: str  # the status whose colour it takes


@dataclass(frozen=True)
class MarkWord:
    """A mark beside a status. `tone` is one of "", "good", "warn", "bad"."""

    code: str
    word: str
    tone: str
    means: str
    short: str = ""  # for narrow rows


UNKNOWN_ICON = "unknown"
CODE_CHARS = 60  # of a code this version does not know

GROUPS = (
    Group("contract", "contract failed", NodeStatus.CONTRACT_FAILED),
    Group("crashed", "crashed", NodeStatus.TOOL_ERROR),
    Group("refused", "refused", NodeStatus.DENIED),
    Group("limits", "limits", NodeStatus.BUDGET),
    Group("stopped", "cancelled", NodeStatus.CANCELLED),
    Group("running", "running", NodeStatus.RUNNING),
    Group("waiting", "queued, waiting", NodeStatus.WAITING),
    Group("ok", "ok", NodeStatus.OK),
)


def _status(code: NodeStatus, group: str, means: str, word: str | None = None) -> StatusWord:
    return StatusWord(code, word or code.replace("_", " "), code, group, means)


STATUSES: dict[str, StatusWord] = {
    word.code: word
    for word in (
        _status(NodeStatus.QUEUED, "waiting", "not started"),
        _status(NodeStatus.RUNNING, "running", "a worker has it"),
        _status(NodeStatus.WAITING, "waiting", "suspended, holds no worker"),
        _status(NodeStatus.OK, "ok", "returned, and no gate failed"),
        _status(NodeStatus.CACHE_HIT, "ok", "the result of an equal brief, used again"),
        _status(NodeStatus.CONTRACT_FAILED, "contract", "returned, and a gate failed"),
        _status(NodeStatus.TOOL_ERROR, "crashed", "the worker crashed"),
        _status(NodeStatus.PROVIDER_ERROR, "crashed", "the model's provider failed"),
        _status(NodeStatus.BUDGET, "limits", "its budget is used up"),
        _status(NodeStatus.TIMEOUT, "limits", "its time is used up"),
        _status(NodeStatus.CONCURRENCY_LIMIT, "limits", "too many at once", "fan-out limit"),
        _status(NodeStatus.DENIED, "refused", "it was refused"),
        _status(NodeStatus.CANCELLED, "stopped", "it was cancelled"),
        _status(NodeStatus.LOST, "crashed", "its worker died as often as is allowed"),
    )
}

MARKS: dict[str, MarkWord] = {
    mark.code: mark
    for mark in (
        MarkWord(
            Mark.RECEIPT_MISMATCH,
            "receipt disagrees",
            "warn",
            "It says it changed files; its receipt shows no change.",
            "disagrees",
        ),
        MarkWord(
            Mark.EVIDENCE_UNKNOWN,
            "evidence unknown",
            "",
            "This worker exposes no tool counters: what it did is unknown, not nothing.",
            "unknown",
        ),
        MarkWord(
            Mark.NOT_ISOLATED, "not isolated", "warn", "Its commands ran outside of the sandbox."
        ),
        MarkWord(
            Mark.WORKSPACE_CONFLICT,
            "workspace conflict",
            "bad",
            "A file it changed was changed meanwhile by another one; neither was overwritten.",
            "conflict",
        ),
    )
}

CHOSEN: dict[str, str] = {
    ChosenBecause.ONLY_ATTEMPT: "there was no other",
    ChosenBecause.LAST_ATTEMPT: "it is the last, and no earlier one returned a result",
    ChosenBecause.RETRY_PASSED: "it passed every gate",
    ChosenBecause.RETRY_TOUCHED_WORKSPACE: (
        "it failed a gate, but what it wrote is what is on disk now"
    ),
    ChosenBecause.RETRY_EFFECTS_UNKNOWN: (
        "it failed a gate, but its effects are unknown, so what it left may be what counts"
    ),
    ChosenBecause.RETRY_NO_WORSE: "it failed no more gates than the one before",
    ChosenBecause.EARLIER_FAILED_FEWER: "it failed fewer gates, and the retry changed nothing",
    ChosenBecause.RETRY_CRASHED: "the retry crashed and changed nothing",
}


def status_word(code: str) -> StatusWord:
    """How a status is said; an unknown one neutrally, by its own code."""
    known = STATUSES.get(code)
    return known or StatusWord(code, _as_words(code), UNKNOWN_ICON, "", "unknown status")


def mark_word(code: str) -> MarkWord:
    """How a mark is said; an unknown one neutrally, by its own code."""
    return MARKS.get(code) or MarkWord(code, _as_words(code), "", "")


def chosen_words(because: str) -> str:
    """Why an attempt stands; an unknown rule by its own code."""
    return CHOSEN.get(because) or _as_words(because)


def _as_words(code: str) -> str:
    return one_line(code.replace("_", " "), CODE_CHARS)


def failures_first(counts: dict[str, int]) -> list[tuple[StatusWord, int]]:
    """The failed statuses among `counts`, worst first."""
    return [
        (STATUSES[code], counts[code])
        for code in WORST_FIRST
        if code in FAILED and counts.get(code)
    ]


def in_order(counts: dict[str, int]) -> list[tuple[StatusWord, int]]:
    """Every status that occurs: what succeeded, what goes on, what failed; unknown ones last."""
    order = [NodeStatus.OK, NodeStatus.CACHE_HIT, NodeStatus.RUNNING, NodeStatus.WAITING,
             NodeStatus.QUEUED, *(s for s in WORST_FIRST if s in FAILED)]  # fmt: skip
    unknown = sorted(set(counts) - set(order))
    return [(status_word(code), counts[code]) for code in (*order, *unknown) if counts.get(code)]


def _ranges(character_class: str) -> list[tuple[int, int]]:
    """The code points of a regular expression's character class without brackets, as ranges."""
    ranges: list[tuple[int, int]] = []
    rest = character_class
    while rest:
        end = rest[2] if rest[1:2] == "-" else rest[0]
        ranges.append((ord(rest[0]), ord(end)))
        rest = rest[3:] if rest[1:2] == "-" else rest[1:]
    return ranges


def deceiving_characters() -> dict[str, Any]:
    """What a script needs to show foreign text exactly as `verifier.framing.visible` does."""
    return {
        "escape": _ranges(CONTROLS + UNSEEN + SURROGATES),
        "combining": _ranges(COMBINING),
        "marks_kept": MARKS_KEPT,
    }


def page_vocabulary() -> dict[str, Any]:
    """What the scripts are told, as JSON."""
    shown = [word for word, _ in in_order(dict.fromkeys(NodeStatus, 1))]
    severity = {code: rank for rank, code in enumerate(s for s in WORST_FIRST if s in FAILED)}
    return {
        "statuses": {
            word.code: asdict(word)
            | {
                "terminal": word.code in TERMINAL,
                "failed": word.code in FAILED,
                "succeeded": word.code in SUCCEEDED,
                "severity": severity.get(NodeStatus(word.code)),
            }
            for word in shown
        },
        "groups": [asdict(group) for group in GROUPS],
        "marks": {code: asdict(mark) for code, mark in MARKS.items()},
        "characters": deceiving_characters(),
    }
