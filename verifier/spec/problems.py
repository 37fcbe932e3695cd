"""What is wrong with a spec, where, in words for the person who wrote it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from verifier.errors import VerifierError
from verifier.framing import one_line

MAX_PROBLEMS: Final = 100  # a page of them; a spec with more is not the one that was meant
WHOLE_DOCUMENT: Final = ""  # the path of a problem that has no place of its own


@dataclass(frozen=True, order=True)
class SpecProblem:
    """One fault. `path` is a field path such as `branches[0].scorers[0].value`."""

    path: str
    message: str


class SpecError(VerifierError):
    """The spec is refused; `problems` has every fault, up to 100."""

    def __init__(self, problems: Sequence[SpecProblem], left_out: int = 0) -> None:
        """`left_out`: how many more there are that nobody put into words."""
        self.problems = _capped(problems, left_out)
        super().__init__("; ".join(map(_said, self.problems)))


def _said(problem: SpecProblem) -> str:
    return f"{problem.path}: {problem.message}" if problem.path else problem.message


def _capped(problems: Sequence[SpecProblem], left_out: int) -> tuple[SpecProblem, ...]:
    if len(problems) + left_out <= MAX_PROBLEMS:
        return tuple(problems)
    kept = problems[: MAX_PROBLEMS - 1]
    more = f"and {len(problems) + left_out - len(kept):,} more problems"
    return (*kept, SpecProblem(WHOLE_DOCUMENT, more))


def path_of(parts: Iterable[str | int]) -> str:
    """A field path: `branches[0].role`; a key that is no plain word is quoted in brackets."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part.isascii() and part.isidentifier() and len(part) <= 80:
            path += f".{part}" if path else part
        else:
            path += f'["{one_line(part, 80)}"]'
    return path


def describe(value: object) -> str:
    """What was seen, short and harmless."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'the text "{one_line(value, 60)}"' if value else "an empty text"
    if isinstance(value, int | float):
        return f"the number {one_line(str(value), 40)}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value):,}"
    return "a mapping" if isinstance(value, dict) else f"a value of type {type(value).__name__}"
