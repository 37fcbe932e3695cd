"""What a due date written in words means."""

import re
from datetime import date, timedelta

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_IN = re.compile(r"in (\d{1,3}) (day|week)s?")


class UnknownDate(ValueError):
    """The text names no date this library understands."""


def parse_due(text: str, today: date) -> date:
    """The day that `text` names, seen from `today`; raises UnknownDate."""
    words = " ".join(text.lower().split())
    if words == "today":
        return today
    if words == "tomorrow":
        return today + timedelta(days=1)
    if words == "end of month":
        return end_of_month(today)
    if words.startswith("next ") and words[5:] in WEEKDAYS:
        return next_weekday(today, WEEKDAYS.index(words[5:]))
    if match := _IN.fullmatch(words):
        count, unit = int(match[1]), match[2]
        return today + timedelta(days=count * (7 if unit == "week" else 1))
    try:
        return date.fromisoformat(words)
    except ValueError:
        raise UnknownDate(f"not a date: {text!r}") from None


def end_of_month(day: date) -> date:
    """The last day of `day`'s month."""
    return date(day.year, day.month + 1, 1) - timedelta(days=1)


def next_weekday(day: date, weekday: int) -> date:
    """The first such weekday after `day`, never `day` itself."""
    ahead = (weekday - day.weekday() - 1) % 7 + 1
    return day + timedelta(days=ahead)
