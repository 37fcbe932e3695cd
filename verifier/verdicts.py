"""The verdict vocabularies: separate types, never added up into one green light. Domain §1."""

from enum import StrEnum


class ScorerOutcome(StrEnum):
    """A gate's answer. `not_evaluated` is neither a pass nor a miss."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_EVALUATED = "not_evaluated"
