"""What programs wrote, as text that can be stored."""

from verifier.framing import db_text

_CUT = "… [{:,} characters before this are not shown]\n"


def decoded(data: bytes, cap: int) -> str:
    """The beginning of `data`, at most `cap` characters; bytes that are no UTF-8 as `�`."""
    return db_text(data.decode("utf-8", "replace"), cap)


def tail_of(data: bytes, cap: int) -> str:
    """The end of `data`, where programs say what went wrong; a cut is marked."""
    text = data.decode("utf-8", "replace")
    kept = text if len(text) <= cap else _CUT.format(len(text) - cap) + text[-cap:]
    return db_text(kept, 2 * cap + len(_CUT) + 20)
