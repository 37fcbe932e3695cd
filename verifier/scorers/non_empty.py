"""`non_empty`: there is something in the output that a reader would see.

What counts is the stored deliverable. Missing, "" and blanks of any kind fail; `{}`, `[]`, `0`
and `false` are answers. Source: seed 001 §2, domain §4.
"""

from typing import Literal

from verifier.characters import has_content
from verifier.scorers.scorer import Finding, Scorer, ScoringContext, failed, passed


class NonEmpty(Scorer):
    """Passes when the output has content."""

    kind: Literal["non_empty"] = "non_empty"

    def score(self, context: ScoringContext) -> Finding:
        output = context.deliverable.output
        if output is None:
            return failed("expected an output, got none")
        if not isinstance(output, str):
            return passed(f"a {_NAMES[type(output)]}")
        if not output:
            return failed("expected an output, got an empty text")
        if not has_content(output):
            return failed(f"expected an output, got {len(output):,} blank or invisible characters")
        return passed(f"{len(output):,} characters")


_NAMES = {dict: "mapping", list: "list", bool: "truth value", int: "number", float: "number"}
