"""`files_changed`, derived from the expected shape `code-diff`: at least one file was changed.

Read from the receipt and from the measured workspace, never from what the worker says. Unknown
counters do not fail it; the result says so. Source: domain §4.
"""

from typing import Literal

from verifier.scorers.scorer import (
    EVIDENCE_UNKNOWN,
    Finding,
    Scorer,
    ScoringContext,
    failed,
    passed,
)


class FilesChanged(Scorer):
    """Passes when the receipt or the workspace shows a changed file."""

    kind: Literal["files_changed"] = "files_changed"

    def score(self, context: ScoringContext) -> Finding:
        touched, counts = context.files_touched, context.side_effects
        if touched:
            return passed(f"{touched:,} files differ in the workspace")
        if counts is not None and counts.filesChanged > 0:
            return passed(f"{counts.filesChanged:,} file changes by tools")
        if touched is None and (counts is None or counts.commandsRun > 0):
            return passed(EVIDENCE_UNKNOWN)  # a command may have written what nobody measured
        return failed("expected at least one changed file, got none")
