import unittest
from datetime import date

from notekeeper.dates import UnknownDate, parse_due

WEDNESDAY = date(2025, 6, 11)


class ParseDue(unittest.TestCase):
    def test_words(self):
        for text, expected in (
            ("today", date(2025, 6, 11)),
            ("Tomorrow", date(2025, 6, 12)),
            ("next friday", date(2025, 6, 13)),
            ("next  Wednesday", date(2025, 6, 18)),  # never the same day
            ("in 3 days", date(2025, 6, 14)),
            ("in 2 weeks", date(2025, 6, 25)),
            ("end of month", date(2025, 6, 30)),
            ("2025-07-01", date(2025, 7, 1)),
        ):
            with self.subTest(text):
                self.assertEqual(parse_due(text, WEDNESDAY), expected)

    def test_end_of_february_in_a_leap_year(self):
        self.assertEqual(parse_due("end of month", date(2024, 2, 3)), date(2024, 2, 29))

    def test_unknown_text(self):
        for text in ("", "someday", "next year", "in many days", "2025-02-30"):
            with self.subTest(text), self.assertRaises(UnknownDate):
                parse_due(text, WEDNESDAY)
