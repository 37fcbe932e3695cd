"""Takes from foreign text whatever a model could read as the tag of a prompt's block.

Source: domain §6 ("any spelling of those tags inside the data is neutralised"), reliability S1.
The nonce in a block's tag (`framing.fence`) already makes it unguessable; this is the second
fence, against a model that does not look that closely.
"""

import html
import re
import unicodedata
from functools import lru_cache

from verifier.characters import (
    CONFUSABLE,
    CONTROLS,
    GREATER,
    LESS,
    QUOTES_LESS,
    SURROGATES,
    TERMINAL_SEQUENCE,
    UNSEEN,
)

BLOCK_NAMES = ("goal", "subtask", "untrusted_worker_result", "check_failures")
REMOVED = "[delimiter removed]"
WITHHELD = "[withheld: layers of encoded delimiters]"
MAX_LAYERS = 16  # encodings within encodings; deeper ones are an attack, not a text

_ACTING = re.compile(f"[{CONTROLS}{UNSEEN}{SURROGATES}]")
_BRACKETS = re.compile("[" + "".join(set(LESS + GREATER) - set("<>‹›")) + "]")
_BRACKET_OF = dict.fromkeys(LESS, "‹") | dict.fromkeys(GREATER, "›")
# Each kind of encoding apart, so that a text without its first character costs nothing. Runs of
# backslashes are entered at their start only: else a run of n would be read n² times.
_ENCODED = (
    ("&", r"&(?:amp;)*(?:[lL][tT]|#0*60|#[xX]0*3[cC])\b;?", "‹"),
    ("&", r"&(?:amp;)*(?:[gG][tT]|#0*62|#[xX]0*3[eE])\b;?", "›"),
    ("%", r"%(?:25)*3[cC]", "‹"),
    ("%", r"%(?:25)*3[eE]", "›"),
    ("\\", r"(?<!\\)\\++(?:[uUxX]?0*3[cC]|[uU]\{0*3[cC]\})", "‹"),
    ("\\", r"(?<!\\)\\++(?:[uUxX]?0*3[eE]|[uU]\{0*3[eE]\})", "›"),
)
_ENCODED_BRACKETS = tuple((opener, re.compile(p), shown) for opener, p, shown in _ENCODED)
# Without one of these (or what folds to one) no bracket can appear: the usual text ends here.
_OPENERS = re.compile(f"[‹{QUOTES_LESS}&＆﹠%％﹪\\\\＼﹨≮]")
_PERCENT = re.compile(r"(?:%(?:25)*[0-9a-fA-F]{2})+")
_HEX_PAIR = re.compile(r"%(?:25)*([0-9a-fA-F]{2})")
_BACKSLASH = re.compile(
    r"(?<!\\)\\++(?:[uU]([0-9a-fA-F]{4}|[0-9a-fA-F]{2})|[uU]\{([0-9a-fA-F]{1,6})\}"
    r"|[xX]([0-9a-fA-F]{2}))"
)
_NESTED_AMP = re.compile(r"&(?:[aA][mM][pP];?|#0*38;?|#[xX]0*26;?)+")
MANY = 32  # from so many different letters on, one pass over the text beats one pass per letter
_DELIMITER = re.compile(
    r"<[\s/\\!?]*(?:" + "|".join(n.replace("_", r"[\s_\-]*") for n in BLOCK_NAMES) + r")\b",
    re.IGNORECASE,
)


def neutralise(text: str) -> str:
    """`text` without controls, unseen characters and any spelling of a block's tag.

    Angle brackets of every look become `‹` and `›`, also encoded ones. If a block's tag still
    shows once every encoding, accent, style and look-alike letter is folded away, the folded text
    is given back with the tag removed; text that hides behind more than 16 layers of encoding is
    withheld. Idempotent; linear in the text, with a bounded number of passes.
    """
    text = _plain_brackets(_strip(text))
    if not _OPENERS.search(text):
        return text
    for _ in range(MAX_LAYERS):
        folded = _fold(text)
        if folded is None:
            return WITHHELD
        if not _DELIMITER.search(folded):
            return text
        text = _plain_brackets(_DELIMITER.sub(REMOVED, folded))
    return WITHHELD


def _strip(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _ACTING.sub("", TERMINAL_SEQUENCE.sub("", text))


def _plain_brackets(text: str) -> str:
    for opener, pattern, shown in _ENCODED_BRACKETS:
        if opener in text:
            text = pattern.sub(shown, text)
    text = text.replace("<", "‹").replace(">", "›")
    return _BRACKETS.sub(lambda m: _BRACKET_OF[m[0]], text)


def _fold(text: str) -> str | None:
    """The plainest form of the text; None when it does not become stable."""
    for _ in range(MAX_LAYERS):
        folded = _fold_once(text)
        if folded == text:
            return folded
        text = folded
    return None


def _fold_once(text: str) -> str:
    decoded = text
    if "&" in decoded:
        decoded = html.unescape(_NESTED_AMP.sub("&", decoded))
    if "%" in decoded:
        decoded = _PERCENT.sub(_decode_percent, decoded)
    if "\\" in decoded:
        decoded = _BACKSLASH.sub(_decode_backslash, decoded)
    return _fold_letters(decoded if decoded == text else _strip(decoded))


def _decode_percent(match: re.Match[str]) -> str:
    octets = bytes(int(pair, 16) for pair in _HEX_PAIR.findall(match[0].replace("%25", "%")))
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return octets.decode("latin-1")


def _decode_backslash(match: re.Match[str]) -> str:
    code = int(match[1] or match[2] or match[3], 16)
    return chr(code) if code <= 0x10FFFF else match[0]


def _fold_letters(text: str) -> str:
    if text.isascii():
        return text
    folds = {c: plain for c in set(text) if (plain := _fold_letter(c)) != c}
    if len(folds) >= MANY:
        return text.translate({ord(letter): plain for letter, plain in folds.items()})
    for letter, plain in folds.items():
        text = text.replace(letter, plain)
    return text


@lru_cache(maxsize=4096)
def _fold_letter(letter: str) -> str:
    plain = unicodedata.normalize("NFKD", letter.translate(CONFUSABLE))
    return "".join(c for c in plain if not unicodedata.combining(c)).translate(CONFUSABLE)
