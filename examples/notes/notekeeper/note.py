"""One note: a header of `key: value` lines, an empty line, the body."""

from dataclasses import dataclass, field
from datetime import date

from notekeeper.dates import parse_due


class BadNote(ValueError):
    """A note whose header cannot be read."""


@dataclass(frozen=True)
class Note:
    title: str
    body: str
    written: date
    due: date | None = None
    tags: frozenset[str] = field(default_factory=frozenset)

    def has_tag(self, tag: str) -> bool:
        return tag.lower() in self.tags


def parse_note(text: str) -> Note:
    """Reads a note; raises BadNote naming the line at fault."""
    head, _, body = text.partition("\n\n")
    fields: dict[str, str] = {}
    for number, line in enumerate(head.splitlines(), start=1):
        key, colon, value = line.partition(":")
        if not colon:
            raise BadNote(f"line {number}: expected 'key: value', seen {line!r}")
        fields[key.strip().lower()] = value.strip()
    for needed in ("title", "written"):
        if not fields.get(needed):
            raise BadNote(f"the header has no {needed!r}")
    try:
        written = date.fromisoformat(fields["written"])
        due = parse_due(fields["due"], written) if fields.get("due") else None
    except ValueError as problem:
        raise BadNote(str(problem)) from None
    tags = frozenset(tag.strip().lower() for tag in fields.get("tags", "").split(",") if tag.strip())
    return Note(fields["title"], body.strip(), written, due, tags)
