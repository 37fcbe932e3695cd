"""A deliverable to look at, and fakes at the library's ports."""

from collections.abc import Callable, Mapping

import pytest
from pydantic import JsonValue

from verifier.outcome import Deliverable
from verifier.ports import PathFact
from verifier.receipt import SideEffects
from verifier.scorers import ScoringContext

MISSING = PathFact(exists=False)


class FakeWorkspace:
    """Knows the facts it was given; everything else is missing."""

    def __init__(self, facts: Mapping[str, PathFact] | None = None) -> None:
        self.facts = facts or {}
        self.asked: list[str] = []

    def fact(self, path: str) -> PathFact:
        self.asked.append(path)
        return self.facts.get(path, MISSING)


class FakeClock:
    """Goes on by `step_ms` whenever someone looks."""

    def __init__(self, step_ms: int = 0) -> None:
        self.step_ms = step_ms
        self.now = 0

    def monotonic_ms(self) -> int:
        self.now += self.step_ms
        return self.now


MakeContext = Callable[..., ScoringContext]


@pytest.fixture
def context() -> MakeContext:
    def make(
        output: JsonValue = None,
        *,
        notes: str | None = None,
        side_effects: SideEffects | None = None,
        facts: Mapping[str, PathFact] | None = None,
        files_touched: int | None = None,
        step_ms: int = 0,
    ) -> ScoringContext:
        # model_construct: a worker's value has passed no validation of ours
        deliverable = Deliverable.model_construct(output=output, notes=notes)
        return ScoringContext(
            deliverable, side_effects, FakeWorkspace(facts), FakeClock(step_ms), files_touched
        )

    return make
