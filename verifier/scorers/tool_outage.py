"""`tool_outage`, derived and always on: every tool the worker tried was broken.

A worker whose calls all failed has not done the work, whatever it says. Source: seed 001 §2
("total-tool-outage gate"), domain §4.
"""

from typing import Literal

from verifier.scorers.scorer import (
    Finding,
    Scorer,
    ScoringContext,
    failed,
    not_evaluated,
    passed,
)


class ToolOutage(Scorer):
    """Fails when tool calls failed and not one succeeded."""

    kind: Literal["tool_outage"] = "tool_outage"

    def score(self, context: ScoringContext) -> Finding:
        counts = context.side_effects
        if counts is None:
            return not_evaluated("this worker exposes no tool counters")
        seen = f"{counts.toolCalls} calls succeeded, {counts.toolErrors} failed"
        if counts.toolErrors > 0 and counts.toolCalls == 0:
            return failed(f"expected at least one working tool call, {seen}", seen)
        return passed(seen)
