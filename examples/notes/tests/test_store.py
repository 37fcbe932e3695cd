import contextlib
import io
import tempfile
import unittest
from datetime import date
from pathlib import Path

from notekeeper.cli import main
from notekeeper.search import find
from notekeeper.store import read_folder

SAMPLE = Path(__file__).resolve().parent.parent / "sample"


class Folder(unittest.TestCase):
    def test_every_sample_note_can_be_read(self):
        self.assertEqual([e.name for e in read_folder(SAMPLE) if e.error], [])

    def test_a_bad_note_does_not_hide_the_others(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.md").write_text("nothing\n")
            (Path(folder) / "b.md").write_text("title: B\nwritten: 2025-01-01\n\nx\n")
            names = [(e.name, e.error is None) for e in read_folder(Path(folder))]
        self.assertEqual(names, [("a.md", False), ("b.md", True)])

    def test_a_hit_in_the_title_ranks_first(self):
        notes = [e.note for e in read_folder(SAMPLE) if e.note]
        self.assertEqual(find(notes, ["boiler"])[0].title, "Service the boiler")

    def test_due_lists_what_is_due(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            main(["due", str(SAMPLE), "--by", "2025-06-30"], today=date(2025, 6, 11))
        self.assertIn("Service the boiler", out.getvalue())
        self.assertNotIn("Renew the passport", out.getvalue())
