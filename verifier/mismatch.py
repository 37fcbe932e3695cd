"""Does the worker claim to have written files while its receipt shows that nothing was written?

Deterministic, by listed rules over English sentences; no model is asked. It is a mark beside the
result, never a verdict: a sentence these rules do not know is not marked. Source: domain §3 ("the
receipt stands beside what the worker said it did"), seed 001 §1.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from verifier.framing import one_line
from verifier.outcome import Deliverable
from verifier.receipt import SideEffects, shows_no_effect

SCANNED_CHARS = 100_000
SENTENCE_CHARS = 600  # longer ones are data, not statements
QUOTED_CHARS = 200

_PAST = (
    r"(?:written|wrote|created|updated|saved|added|modified|edited|generated|fixed|renamed|deleted"
    r"|removed|appended|moved|copied|changed|implemented|refactored|documented|replaced|rewrote"
    r"|rewritten|produced|stored|put|placed|inserted|committed)"
)
_WRITTEN = r"(?:written|created|updated|saved|generated|added|appended|stored|modified|rewritten)"
# A name begins at a word's beginning and is entered there only: hostile text costs linear time.
_FILE_NAME = (
    r"(?:(?<![\w./-])(?:[\w-][\w./-]{0,200}?\.(?:md|rst|txt|py|pyi|js|mjs|ts|tsx|jsx|json|ya?ml|ini"
    r"|toml|cfg|html?|css|csv|tsv|sql|sh|xml|log|lock|pdf|png|svg|go|rs|java|kt|rb|php|c|h|cpp|hpp"
    r"|cs|ipynb|tex|diff|patch)\b(?![/-])"
    r"|(?:[\w.-]{1,100}+/)++[\w-]{1,100}+\.\w+|(?:Makefile|Dockerfile|README|CHANGELOG|LICENSE)\b))"
)
_FILE_WORD = (
    r"\b(?:files?|documentation|docs|doc ?strings?|readme|changelog|modules?|scripts?|source code"
    r"|code|tests?|unit tests|test cases?|functions?|configuration|config|folder|director(?:y|ies)"
    r"|release notes|guide)\b"
)
_FILE = rf"(?:{_FILE_NAME}|{_FILE_WORD})"
_QUOTE = r"[`'\"*_‘’“”]*"
_ADVERB = r"(?:(?:also|just|now|successfully|already|then|finally|carefully|have|had)\s+)*"
# Between the verb and its object stand at most eight words, none of which makes the file a mere
# topic ("a summary of README.md"), unless the file is named as the place ("in README.md").
_NEAR = (
    r"(?:(?!(?:of|about|on|from|for|regarding|against|what|how|why|that|which)\b)[^\s;:]+\s+){0,8}?"
)
_PLACE = r"(?:[^\s;:]+\s+){0,12}?(?:in|to|into|as|under|at)\s+"
_OBJECT = rf"(?:{_NEAR}{_QUOTE}(?P<file>{_FILE})|{_PLACE}{_QUOTE}(?P<place>{_FILE_NAME}))"
_SUBJECT = r"\b(?:I|we)(?:['’]ve)?\s+"
_AUXILIARY = r"(?:has|have|was|were|is now|are now)\s+(?:been\s+)?"


@dataclass(frozen=True)
class Rule:
    """One way of saying that a file was written, and a sentence that says it so."""

    name: str
    pattern: re.Pattern[str]
    example: str


def _rule(name: str, pattern: str, example: str) -> Rule:
    return Rule(name, re.compile(pattern, re.IGNORECASE), example)


CLAIMS = (
    _rule(
        "first person",
        rf"{_SUBJECT}{_ADVERB}(?P<verb>{_PAST})\s+{_OBJECT}",
        "I have written the documentation to docs/usage.md.",
    ),
    _rule(
        "first person, second verb",
        rf"{_SUBJECT}[^.;]{{1,200}}?\band\s+{_ADVERB}(?P<verb>{_PAST})\s+{_OBJECT}",
        "I read the parser and updated docs/parser.md.",
    ),
    _rule(
        "passive",
        rf"(?P<file>{_FILE}){_QUOTE}(?:\s+[^\s;:]+){{0,4}}?\s+{_AUXILIARY}{_ADVERB}"
        rf"(?P<verb>{_WRITTEN})\b",
        "The file docs/usage.md has been created.",
    ),
    _rule(
        "no subject",
        rf"^[\s>*#\-+✅✓☑️\d.)]*(?:successfully\s+|done[:,.]?\s+|all done[:,.]?\s+)?"
        rf"(?P<verb>written|wrote|created|updated|saved|generated|appended|added|edited|modified)"
        rf":?\s+{_NEAR}{_QUOTE}(?P<file>{_FILE_NAME})",
        "Created docs/usage.md with one example per command.",
    ),
    _rule(
        "written to a place",
        rf"(?P<verb>{_WRITTEN})\s+(?:out\s+)?(?:to|into|in|as|at|under)\s+(?:the\s+file\s+)?{_QUOTE}"
        rf"(?P<file>{_FILE_NAME})",
        "The report is complete and saved to out/report.md.",
    ),
    _rule(
        "a heading over changed files",
        r"^[\s*#\-]*(?P<verb>files? (?:changed|created|written|updated|modified|added))[*\s]*:"
        rf"[*\s]*{_QUOTE}(?P<file>{_FILE_NAME})",
        "Files changed: docs/usage.md",
    ),
)

# Any of these before the verb, in its clause, and nothing has been claimed.
UNDONE_BEFORE = re.compile(
    r"\b(?:would|will|could|should|might|may|can|can't|shall|must|cannot|going to|plan(?:s|ned)? to"
    r"|want(?:ed)? to|need(?:s|ed)? to|intend(?:ed)? to|tried to|try to|able to|unable|failed to"
    r"|let me|let's|please|to be|if|unless|once|when|before|until|whether"
    r"|no|not|never|nothing|none|neither|nor|without|nobody|hardly"
    r"|you|he|she|they|someone|somebody|the user|author|maintainers?|which|who|that was|that were"
    r"|previously|originally|last|recently|ever|first)\b"
    r"|n['’]t\b|['’](?:ll|d)\b",
    re.IGNORECASE,
)
# Directly after the verb: what was done to nothing, by another, or in the answer itself.
UNDONE_AFTER = re.compile(
    r"^\s*(?:no|nothing|none|neither|zero|0|on|my mind)\b|^[^.;]{0,80}?\bby\s+(?!hand\b)\w"
    r"|^[^.;]{0,120}?\b(?:below|above|as follows|in this (?:answer|reply|message|output))\b",
    re.IGNORECASE,
)

_FENCED = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)*]*\s+|\n+")
_CLAUSE_END = re.compile(r"[,;:()—–]|\s(?:and|but|so|then|however)\s", re.IGNORECASE)


def receipt_mismatch(
    deliverable: Deliverable, side_effects: SideEffects | None, files_touched: int | None
) -> str | None:
    """The sentence to show when words and receipt disagree, quoting what was said; else None.

    Only a receipt that is known and shows no file changed and no command run can disagree, and
    only while the workspace, where it was measured, is unchanged too.
    """
    if not shows_no_effect(side_effects) or files_touched:
        return None
    for text in _texts(deliverable):
        said = claimed_write(text)
        if said is not None:
            return (
                f"It says “{one_line(said, QUOTED_CHARS)}”, but its receipt shows no file changed "
                "and no command run."
            )
    return None


def claimed_write(text: str) -> str | None:
    """The first sentence of `text` that claims a file was written; None when none does."""
    prose = _FENCED.sub("\n", text[:SCANNED_CHARS])
    return next((s for s in _sentences(prose) if _claims(s)), None)


def _sentences(prose: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(prose):
        sentence = sentence.strip()
        if 0 < len(sentence) <= SENTENCE_CHARS and not sentence.endswith("?"):
            yield sentence


def _claims(sentence: str) -> bool:
    return any(
        not _is_undone(sentence, match)
        for rule in CLAIMS
        for match in rule.pattern.finditer(sentence)
    )


def _is_undone(sentence: str, match: re.Match[str]) -> bool:
    clause = _CLAUSE_END.split(sentence[: match.start("verb")])[-1]
    if UNDONE_BEFORE.search(clause) or UNDONE_BEFORE.search(
        sentence[match.start() : match.start("verb")]
    ):
        return True
    return UNDONE_AFTER.search(sentence[match.end("verb") :]) is not None


def _texts(deliverable: Deliverable) -> Iterator[str]:
    """Notes and output, an output's texts one by one; at most `SCANNED_CHARS` in all."""
    left = SCANNED_CHARS
    pending: list[JsonValue] = [deliverable.output, deliverable.notes]
    while pending and left > 0:
        value = pending.pop()
        if isinstance(value, str):
            yield value[:left]
            left -= len(value) + 1
        elif isinstance(value, dict):
            pending.extend(reversed(value.values()))
        elif isinstance(value, list):
            pending.extend(reversed(value))
