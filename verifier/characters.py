"""Which characters deceive: the unseen, the controlling, the look-alikes. Tables only.

Source: domain §6 (delimiters), OWASP LLM01 #5 and LLM10 #6, #8 (characters to strip or to show).
"""

import re

# Ranges for a regular expression's character class. Category Cf without the signs that have a
# shape of their own (Arabic number signs), the fillers that draw nothing, line and paragraph
# separators, variation selectors, tag characters, non-characters, lone surrogates.
UNSEEN = (
    "\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
SURROGATES = "\ud800-\udfff"
CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"  # all but \t and \n
BLANK_GLYPHS = "\u2800"  # drawn, but as nothing: the empty Braille cell

# Marks that pile up over a letter; a run of thousands ("zalgo") covers the lines around it.
COMBINING = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)

TERMINAL_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"  # OSC, DCS, APC: only when closed, else they
    r"[^\x00-\x08\x0a-\x1f\x7f-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"  # would hide all that follows
    r"|\x1b[@-Z\\-_]"  # two-character escapes
)

# Read as the brackets and the slash of a tag.
LESS = "<＜﹤‹〈〈⟨❮❬❰≺˂ᐸᚲ𝈶⧼⋖"
GREATER = ">＞﹥›〉〉⟩❯❭❱≻˃ᐳ𝈷⧽⋗"
SLASHES = "/／⁄∕⧸╱⟋⼃＼﹨⧵"
# Ordinary quotation marks that a tag can be written with: left alone until one is.
QUOTES_LESS = "«《≪"
QUOTES_GREATER = "»》≫"

# Letters of other scripts that are read as Latin ones. NFKD has already folded width, style,
# ligatures and accents; these have no decomposition.
_LETTERS = {
    "a": "аαɑᴀ", "b": "вβʙƅ", "c": "сϲᴄ", "d": "ԁđᴅ", "e": "еεєᴇ", "f": "ƒꜰ", "g": "ɡցɢ",
    "h": "һнʜħ", "i": "іιıɩɪ", "j": "јᴊ", "k": "кκᴋ", "l": "ӏłƚʟ", "m": "мᴍ", "n": "пηոɴ",
    "o": "оοօøσᴏ", "p": "рρᴘ", "r": "гʀ", "s": "ѕꜱʂ", "t": "тτŧᴛ", "u": "υսʋᴜ", "v": "νѵᴠ",
    "w": "ԝшωᴡ", "x": "хχ", "y": "уγʏ", "z": "ᴢʐ",
}  # fmt: skip

_TWINS = {t: latin for latin, twins in _LETTERS.items() for t in twins + twins.upper()}
CONFUSABLE = str.maketrans(
    dict.fromkeys(LESS + QUOTES_LESS, "<")
    | dict.fromkeys(GREATER + QUOTES_GREATER, ">")
    | dict.fromkeys(SLASHES, "/")
    | {twin: latin for twin, latin in _TWINS.items() if not twin.isascii()}
)


def has_content(text: str) -> bool:
    """Whether a reader would see anything at all: blanks, controls and unseen characters are
    nothing."""
    return _SEEN.search(text) is not None


_SEEN = re.compile(f"[^\\s{CONTROLS}{UNSEEN}{SURROGATES}{BLANK_GLYPHS}]")
