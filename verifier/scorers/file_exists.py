"""`file_exists`: a path exists in the node's workspace.

Looked up through the workspace's own sandbox, so a path that leads out of it (also through a
symlink, or with a NUL in it) is a failed gate and never an error. Source: seed 001 §2, domain §4.
"""

from typing import Literal

from pydantic import Field

from verifier.framing import one_line
from verifier.scorers.scorer import Finding, Scorer, ScoringContext, failed, passed

MAX_PATH_CHARS = 1_000


class FileExists(Scorer):
    """Passes when `path` exists, be it a file or a directory."""

    kind: Literal["file_exists"] = "file_exists"
    path: str = Field(min_length=1, max_length=MAX_PATH_CHARS)

    def score(self, context: ScoringContext) -> Finding:
        shown = f'"{one_line(self.path, 200)}"'
        fact = context.workspace.fact(self.path)
        if fact.refusal is not None:
            return failed(f"{shown}: {fact.refusal}", retryable=False)
        if not fact.exists:
            return failed(f"expected {shown} in the workspace, it does not exist")
        size = "" if fact.size is None else f", {fact.size:,} bytes"
        return passed(f"{fact.kind or 'exists'}{size}")
