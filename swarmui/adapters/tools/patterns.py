"""Matching relative paths against glob patterns, in time linear in both."""

import fnmatch
import re
from collections.abc import Sequence

from verifier.boundary.tool_adapter import ToolFailure

MAX_PATTERN_CHARS = 500
MAX_PATTERN_PARTS = 32


class Glob:
    """`*`, `?` and `[…]` within a name, `**` for any number of folders."""

    def __init__(self, pattern: str) -> None:
        parts = [part for part in pattern.split("/") if part not in ("", ".")]
        if not parts or len(pattern) > MAX_PATTERN_CHARS or len(parts) > MAX_PATTERN_PARTS:
            raise ToolFailure(
                f"a pattern of 1 to {MAX_PATTERN_PARTS} parts and at most {MAX_PATTERN_CHARS} "
                "characters was expected, e.g. **/*.py"
            )
        self._parts = [None if part == "**" else _part(part) for part in parts]

    def matches(self, path: str) -> bool:
        """Whether the whole path fits: all positions in the pattern are followed at once."""
        positions = self._past_stars({0})
        for name in path.split("/"):
            positions = self._past_stars(self._step(positions, name))
        return len(self._parts) in positions

    def _step(self, positions: set[int], name: str) -> set[int]:
        reached = set()
        for position in positions:
            if position == len(self._parts):
                continue
            part = self._parts[position]
            if part is None:
                reached.add(position)
            elif part.match(name):
                reached.add(position + 1)
        return reached

    def _past_stars(self, positions: set[int]) -> set[int]:
        reached = set(positions)
        for position in sorted(positions):
            while position < len(self._parts) and self._parts[position] is None:
                position += 1
                reached.add(position)
        return reached


def _part(part: str) -> re.Pattern[str]:
    # fnmatch writes each `*` as an atomic group: no pattern made of them backtracks.
    return re.compile(fnmatch.translate(part))


def under(folder: str, relative: str) -> str:
    """A path found beneath `folder`, relative to the workspace again."""
    parts: Sequence[str] = [part for part in folder.split("/") if part not in ("", ".")]
    return "/".join([*parts, relative])
