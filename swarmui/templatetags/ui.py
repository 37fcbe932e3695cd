"""How statuses, marks, times and numbers are written in templates. Unknown is "–", never 0."""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeText

from swarmui.views import vocabulary

register = template.Library()

UNKNOWN = "–"


@register.inclusion_tag("components/status.html")
def status(code: str, count: int | None = None) -> dict[str, Any]:
    """A status as icon, word and colour, with a count where one is given."""
    word = vocabulary.status_word(code)
    return {
        "code": code,
        "icon": word.icon,
        "word": word.word,
        "means": word.means,
        "count": count,
    }


@register.inclusion_tag("components/mark.html")
def mark(code: str) -> dict[str, Any]:
    """A mark beside a status."""
    word = vocabulary.mark_word(code)
    return {"word": word.word, "tone": word.tone, "means": word.means}


@register.filter
def as_moment(value: object) -> datetime | None:
    """A moment given as datetime, ISO text or epoch milliseconds; None for anything else."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value / 1000, UTC)
    try:
        return datetime.fromisoformat(str(value)).astimezone(UTC)
    except ValueError:
        return None


@register.simple_tag
def clock(value: object) -> SafeText | str:
    """A moment as UTC clock time; the title has the whole of it in ISO 8601."""
    return _time(value, "%H:%M:%S", "")


@register.simple_tag
def date_and_clock(value: object) -> SafeText | str:
    """A moment as UTC date and clock time."""
    return _time(value, "%Y-%m-%d %H:%M:%S", "")


@register.simple_tag
def ago(value: object) -> SafeText | str:
    """A moment by its age; scripts keep it true, without them it is date and time."""
    return _time(value, "%Y-%m-%d %H:%M", "age")


@register.simple_tag
def since(value: object) -> SafeText | str:
    """How long something has been going on; scripts count it up."""
    return _time(value, "since %H:%M:%S", "since")


def _time(value: object, shape: str, kept_by_script: str) -> SafeText | str:
    moment = as_moment(value)
    if moment is None:
        return UNKNOWN
    iso = moment.isoformat(timespec="milliseconds")
    text = moment.strftime(shape)
    if not kept_by_script:
        return format_html('<time datetime="{}" title="{}">{}</time>', iso, iso, text)
    return format_html(
        '<time datetime="{}" title="{}" data-{}>{}</time>', iso, iso, kept_by_script, text
    )


@register.filter
def tokens(count: int | None) -> str:
    """812 → "812", 18240 → "18.2 k", None → "–"."""
    if count is None:
        return UNKNOWN
    if count < 1000:
        return str(count)
    if count < 99_950:
        return f"{count / 1000:.1f} k"
    return f"{count / 1000:.0f} k" if count < 999_500 else f"{count / 1_000_000:.1f} M"


@register.filter
def usd(amount: float | None) -> str:
    """Dollars: "$0.41"; what is more than nothing and less than a cent is "< $0.01"."""
    if amount is None:
        return UNKNOWN
    return "< $0.01" if 0 < amount < 0.01 else f"${amount:,.2f}"


@register.filter
def duration(ms: float | None) -> str:
    """Milliseconds: "3 ms", "0.4 s", "41 s", "3 m 08 s", "2 h 05 m"."""
    if ms is None:
        return UNKNOWN
    if ms < 1:
        return "< 1 ms"
    if ms < 100:
        return f"{ms:.0f} ms"
    seconds = ms / 1000
    if seconds < 9.95:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} m"
    return f"{minutes} m {rest:02d} s" if minutes else f"{rest} s"


@register.filter
def count(number: int | None) -> str:
    """A count with its thousands apart; None → "–"."""
    return UNKNOWN if number is None else f"{number:,}"


@register.filter
def short_id(value: object) -> str:
    """The first block and the last four digits of an id: enough to tell two apart by eye."""
    text = str(value)
    return f"{text[:8]}…{text[-4:]}" if len(text) > 14 else text
