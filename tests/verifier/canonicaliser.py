"""What an attentive reader makes of hostile text: written apart from the product's own folding.

Undoes entities, percent and backslash escapes, terminal sequences, invisible characters, styles,
accents and look-alike letters until nothing changes, then looks for a block's tag.
"""

import html
import re
import unicodedata

NAMES = ("goal", "subtask", "untrusted_worker_result", "check_failures")

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_TAG = re.compile(
    r"<[\s/]*(?:" + "|".join(name.replace("_", r"[\s_\-]*") for name in NAMES) + r")\b", re.I
)
_LOOKS_LIKE = {
    "<": "＜﹤‹〈⟨❮≺˂ᐸ《«≪",
    ">": "＞﹥›〉⟩❯≻˃ᐳ》»≫",
    "/": "／⁄∕⧸╱⟋⼃",
    "a": "аα",
    "b": "β",
    "d": "ԁ",
    "e": "е",
    "g": "ɡ",
    "k": "кκ",
    "l": "ⅼӏ",
    "o": "оο",
    "r": "г",
    "s": "ѕ",
    "t": "тτ",
    "u": "υս",
    "w": "ѡω",
}
_FOLD = {ord(c): plain for plain, chars in _LOOKS_LIKE.items() for c in chars if plain != "w"}


def canon(text: str) -> str:
    for _ in range(12):
        folded = _once(text)
        if folded == text:
            break
        text = folded
    return text


def _once(text: str) -> str:
    text = html.unescape(text)
    text = re.sub(r"%([0-9a-fA-F]{2})", lambda m: chr(int(m[1], 16)), text)
    text = re.sub(r"\\u\{?([0-9a-fA-F]{4})\}?", lambda m: chr(int(m[1], 16)), text)
    text = re.sub(r"\\x([0-9a-fA-F]{2})", lambda m: chr(int(m[1], 16)), text)
    text = _ANSI.sub("", text)
    text = "".join(c for c in text if not _is_unseen(c))
    text = unicodedata.normalize("NFKC", text).translate(_FOLD)
    plain = unicodedata.normalize("NFKD", text)
    return "".join(c for c in plain if not unicodedata.combining(c))


def _is_unseen(char: str) -> bool:
    if char in "\n\t\r":
        return False
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") or char in "\u115f\u1160\u3164\uffa0"


def shows_a_delimiter(text: str) -> bool:
    return _TAG.search(canon(text)) is not None
