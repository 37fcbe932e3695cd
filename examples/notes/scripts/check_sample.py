"""Checks the sample notes; the task is read from standard input and repeated in the report.

Ends with 0 when every note can be read and every due date lies after the day it was written.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from notekeeper.store import read_folder  # noqa: E402


def main() -> int:
    task = " ".join(sys.stdin.read().split())
    print(f"task: {task[:200]}")
    faults = 0
    for entry in read_folder(ROOT / "sample"):
        if entry.note is None:
            verdict = f"cannot be read: {entry.error}"
        elif entry.note.due is not None and entry.note.due < entry.note.written:
            verdict = f"due {entry.note.due}, before it was written"
        else:
            verdict = ""
        faults += bool(verdict)
        print(f"{'FAULT' if verdict else 'ok':5}  {entry.name}  {verdict}".rstrip())
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
