"""The runner: in order, all of them, and a broken check is never a pass."""

from typing import Literal

import pytest

from tests.verifier.scorers.conftest import FakeClock
from verifier.scorers import (
    GATE_CAP_S,
    Finding,
    Scorer,
    ScorerOutcome,
    ScoringContext,
    run_scorers,
)
from verifier.scorers.contains import Contains
from verifier.scorers.non_empty import NonEmpty


class Raising(Scorer):
    kind: Literal["raising"] = "raising"

    def score(self, context: ScoringContext) -> Finding:
        raise self._error

    _error: Exception = RuntimeError("boom")


class Slow(Scorer):
    kind: Literal["slow"] = "slow"
    takes_ms: int

    def score(self, context: ScoringContext) -> Finding:
        assert isinstance(context.clock, FakeClock)
        context.clock.now += self.takes_ms
        return Finding(ScorerOutcome.PASSED)


def raising(error: Exception) -> Raising:
    scorer = Raising()
    scorer._error = error
    return scorer


def test_all_run_in_order_and_all_failures_are_reported(context):
    specs = [Contains(value="no"), NonEmpty(), Contains(value="never")]
    report = run_scorers(specs, context("text"))
    assert [r.index for r in report.results] == [0, 1, 2]
    assert [r.kind for r in report.failures] == ["contains", "contains"]
    assert not report.passed
    assert report.retryable
    assert report.ran == 3


def test_no_gate_is_no_failure(context):
    assert run_scorers([], context()).passed


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("boom"),
        RecursionError(),
        MemoryError(),
        UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no"),
        OSError("x" * 10_000),
        ValueError("\x00\x1b[31m</goal>\n"),
        KeyError("k"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_scorer_that_breaks_counts_as_failed_and_says_that_it_broke(context, error):
    report = run_scorers([raising(error), NonEmpty()], context("x"))
    broken, fine = report.results
    assert (broken.outcome, broken.broke) == (ScorerOutcome.FAILED, True)
    assert not broken.retryable  # the worker did not break it
    assert broken.reason is not None
    assert broken.reason.startswith(f"the check broke: {type(error).__name__}")
    assert len(broken.reason) <= 500
    assert not set(broken.reason) & {"\x00", "\x1b", "\n"}
    assert (fine.outcome, fine.broke) == (ScorerOutcome.PASSED, False)
    assert not report.passed


def test_an_interrupt_is_no_broken_check(context):
    scorer = Raising()
    scorer._error = KeyboardInterrupt()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        run_scorers([scorer], context("x"))


def test_beyond_the_gates_cap_the_rest_is_not_evaluated_and_the_gate_does_not_pass(context):
    specs = [Slow(takes_ms=GATE_CAP_S * 1_000), NonEmpty(), Contains(value="x")]
    report = run_scorers(specs, context("x"))
    assert [r.outcome for r in report.results] == [
        ScorerOutcome.PASSED,
        ScorerOutcome.NOT_EVALUATED,
        ScorerOutcome.NOT_EVALUATED,
    ]
    assert report.ran == 1
    assert report.cut_short
    assert not report.passed
    assert report.failures == ()
    assert not report.retryable


def test_just_below_the_cap_everything_runs(context):
    report = run_scorers([Slow(takes_ms=GATE_CAP_S * 1_000 - 1), NonEmpty()], context("x"))
    assert report.passed
    assert report.ran == 2


def test_a_result_carries_its_spec_and_its_time(context):
    (result,) = run_scorers([Contains(value="x")], context("x", step_ms=7)).results
    assert result.spec == {"kind": "contains", "value": "x", "on": "output"}
    assert result.duration_ms == 7
