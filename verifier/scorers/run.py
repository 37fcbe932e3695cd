"""Runs a node's gates, in order, all of them, and never raises.

A scorer that breaks counts as failed, so a broken check cannot pass for a pass; it is marked as
broken, so it cannot pass for the worker's failure either. Source: seed 001 §2, domain §4.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from verifier.framing import db_text, one_line
from verifier.limits import REASON_CHARS
from verifier.ports import Clock
from verifier.scorers.derived import derived_scorers
from verifier.scorers.scorer import (
    EVIDENCE_UNKNOWN,
    Finding,
    Scorer,
    ScoringContext,
    failed,
    not_evaluated,
)
from verifier.verdicts import ScorerOutcome

__all__ = [
    "GATE_CAP_S",
    "GateReport",
    "ScorerResult",
    "ScoringContext",
    "derived_scorers",
    "run_scorers",
]

GATE_CAP_S = 900  # of one node's whole gate; a gate that takes longer blocks its whole branch


@dataclass(frozen=True)
class ScorerResult:
    """One gate's answer. `index` is its place in the list that was run; `broke`: the check itself
    failed, not what it looked at; `spec` is the spec as JSON."""

    index: int
    kind: str
    spec: dict[str, JsonValue]
    outcome: ScorerOutcome
    observed: str | None
    reason: str | None
    retryable: bool
    broke: bool
    duration_ms: int


@dataclass(frozen=True)
class GateReport:
    """All answers of one run of the gates. `cut_short`: the cap ended it before the last one."""

    results: tuple[ScorerResult, ...]
    cut_short: bool = False

    @property
    def failures(self) -> tuple[ScorerResult, ...]:
        """Those that failed, broken ones among them."""
        return tuple(r for r in self.results if r.outcome is ScorerOutcome.FAILED)

    @property
    def not_evaluated(self) -> tuple[ScorerResult, ...]:
        """Those that gave no answer."""
        return tuple(r for r in self.results if r.outcome is ScorerOutcome.NOT_EVALUATED)

    @property
    def ran(self) -> int:
        """How many gave an answer."""
        return len(self.results) - len(self.not_evaluated)

    @property
    def passed(self) -> bool:
        """No gate failed, and none was left out for want of time."""
        return not self.failures and not self.cut_short

    @property
    def retryable(self) -> bool:
        """Whether another attempt could mend at least one failure."""
        return any(failure.retryable for failure in self.failures)

    @property
    def evidence_unknown(self) -> bool:
        """Whether a pass rests on counters that nobody kept."""
        return any(result.observed == EVIDENCE_UNKNOWN for result in self.results)


def run_scorers(specs: Sequence[Scorer], context: ScoringContext) -> GateReport:
    """Every spec's answer, in order. Beyond 900 s of the context's clock the rest are not
    evaluated, and the report does not pass."""
    begun = context.clock.monotonic_ms()
    results: list[ScorerResult] = []
    cut_short = False
    for index, spec in enumerate(specs):
        cut_short = context.clock.monotonic_ms() - begun >= GATE_CAP_S * 1_000
        if cut_short:
            late = not_evaluated(f"not reached: the gate's {GATE_CAP_S} s were used up")
            results.append(_result(index, spec, late, broke=False, duration_ms=0))
        else:
            results.append(_run_one(index, spec, context))
    return GateReport(tuple(results), cut_short)


def _run_one(index: int, spec: Scorer, context: ScoringContext) -> ScorerResult:
    begun = context.clock.monotonic_ms()
    broke = False
    try:
        finding = spec.score(context)
    except Exception as error:  # noqa: BLE001 — the one catch-all: a broken check is a failed gate
        finding, broke = _broken(error), True
    return _result(index, spec, finding, broke=broke, duration_ms=_since(begun, context.clock))


def _broken(error: Exception) -> Finding:
    what = ": ".join(filter(None, (type(error).__name__, one_line(str(error), 200))))
    return failed(f"the check broke: {what}", retryable=False)


def _since(begun_ms: int, clock: Clock) -> int:
    return max(clock.monotonic_ms() - begun_ms, 0)


def _result(
    index: int, spec: Scorer, finding: Finding, *, broke: bool, duration_ms: int
) -> ScorerResult:
    return ScorerResult(
        index=index,
        kind=spec.kind,
        spec=spec.document(),
        outcome=finding.outcome,
        observed=_stored(finding.observed),
        reason=_stored(finding.reason),
        retryable=finding.retryable,
        broke=broke,
        duration_ms=duration_ms,
    )


def _stored(text: str | None) -> str | None:
    return None if text is None else db_text(text, REASON_CHARS)
