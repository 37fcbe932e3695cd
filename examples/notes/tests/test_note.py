import unittest
from datetime import date

from notekeeper.note import BadNote, parse_note

TEXT = """title: Service the boiler
written: 2025-06-11
due: in 2 weeks
tags: House, heating

Ask about the noise in the morning.
"""


class ParseNote(unittest.TestCase):
    def test_header_and_body(self):
        note = parse_note(TEXT)
        self.assertEqual(note.title, "Service the boiler")
        self.assertEqual(note.due, date(2025, 6, 25))
        self.assertEqual(note.tags, {"house", "heating"})
        self.assertEqual(note.body, "Ask about the noise in the morning.")

    def test_tags_ignore_case(self):
        self.assertTrue(parse_note(TEXT).has_tag("HOUSE"))

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(BadNote, "written"):
            parse_note("title: x\n\nbody")
        with self.assertRaisesRegex(BadNote, "line 2"):
            parse_note("title: x\nno colon here\n\nbody")
