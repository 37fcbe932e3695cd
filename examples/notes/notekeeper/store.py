"""A folder of notes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from notekeeper.note import BadNote, Note, parse_note


@dataclass(frozen=True)
class Entry:
    """A file of the folder: its note, or why there is none."""

    name: str
    note: Note | None
    error: str | None = None


def read_folder(folder: Path) -> Iterator[Entry]:
    """Every note of `folder` by file name; an unreadable one is an entry with an error."""
    for path in sorted(folder.glob("*.md")):
        try:
            yield Entry(path.name, parse_note(path.read_text(encoding="utf-8")))
        except (BadNote, UnicodeDecodeError) as problem:
            yield Entry(path.name, None, str(problem))
