"""Finding notes."""

from collections.abc import Iterable

from notekeeper.note import Note

TITLE_WEIGHT = 3


def score(note: Note, words: Iterable[str]) -> int:
    """How well `note` fits: hits in the title count more; 0 when a word is missing."""
    title, body = note.title.lower(), note.body.lower()
    total = 0
    for word in words:
        word = word.lower()
        hits = TITLE_WEIGHT * title.count(word) + body.count(word) + note.has_tag(word)
        if not hits:
            return 0
        total += hits
    return total


def find(notes: Iterable[Note], words: Iterable[str]) -> list[Note]:
    """The notes that have every word, best first."""
    wanted = list(words)
    ranked = [(score(note, wanted), note) for note in notes]
    hits = [pair for pair in ranked if pair[0] > 0]
    return [note for _, note in sorted(hits, key=lambda pair: (-pair[0], pair[1].title))]
