"""The command line: list, due, find."""

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from notekeeper.dates import UnknownDate, parse_due
from notekeeper.search import find
from notekeeper.store import read_folder


def main(argv: Sequence[str] | None = None, today: date | None = None) -> int:
    options = _parser().parse_args(argv)
    entries = list(read_folder(options.folder))
    notes = [entry.note for entry in entries if entry.note is not None]
    if options.command == "due":
        try:
            limit = parse_due(options.by, today or date.today())
        except UnknownDate as problem:
            print(problem, file=sys.stderr)
            return 2
        notes = [note for note in notes if note.due is not None and note.due <= limit]
        notes.sort(key=lambda note: (note.due or date.max, note.title))
    elif options.command == "find":
        notes = find(notes, options.words)
    for note in notes:
        print(f"{note.due or '          '}  {note.title}")
    for entry in entries:
        if entry.error:
            print(f"{entry.name}: {entry.error}", file=sys.stderr)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="notekeeper", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("list", "due", "find"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "due":
            command.add_argument("--by", default="today")
        if name == "find":
            command.add_argument("words", nargs="+")
    return parser
