"""`contains`: a literal text occurs in the output or in the notes.

The first 100,000 characters are scanned; a miss that more text could have mended says so.
A structured output is searched as its JSON text. Source: seed 001 §2, domain §4.
"""

import json
from typing import Literal

from pydantic import Field

from verifier.framing import one_line
from verifier.scorers.scorer import Finding, Scorer, ScoringContext, failed, passed

SCANNED_CHARS = 100_000
MAX_VALUE_CHARS = 10_000  # a literal longer than this is a document, and belongs in a file


class Contains(Scorer):
    """Passes when `value` occurs, letter for letter."""

    kind: Literal["contains"] = "contains"
    value: str = Field(min_length=1, max_length=MAX_VALUE_CHARS)
    on: Literal["output", "notes"] = "output"

    def score(self, context: ScoringContext) -> Finding:
        text = _text_of(context, self.on)
        if text is None:
            return failed(f"expected {self._quoted()} in the {self.on}, got no {self.on}")
        at = text[:SCANNED_CHARS].find(self.value)
        if at >= 0:
            return passed(f"found at character {at + 1:,}")
        where = f"the {self.on}"
        if len(text) > SCANNED_CHARS:
            where = (
                f"the first {SCANNED_CHARS:,} of {len(text):,} characters of the {self.on} "
                "(truncated: the rest was not searched)"
            )
        return failed(f"expected {self._quoted()}, not found in {where}")

    def _quoted(self) -> str:
        return f'"{one_line(self.value, 120)}"'


def _text_of(context: ScoringContext, on: Literal["output", "notes"]) -> str | None:
    part = context.deliverable.notes if on == "notes" else context.deliverable.output
    if part is None or isinstance(part, str):
        return part
    return json.dumps(part, ensure_ascii=False)
