"""The table of scorer kinds. A new kind is a file beside this one and a line in it.

Source: seed 001 §2 "Scorer kinds".
"""

from typing import Annotated

from pydantic import Discriminator, Tag

from verifier.scorers.contains import Contains
from verifier.scorers.file_exists import FileExists
from verifier.scorers.files_changed import FilesChanged
from verifier.scorers.json_document import JsonDocument
from verifier.scorers.non_empty import NonEmpty
from verifier.scorers.scorer import Scorer
from verifier.scorers.tool_outage import ToolOutage

# What a spec may ask for.
KINDS: dict[str, type[Scorer]] = {
    "non_empty": NonEmpty,
    "contains": Contains,
    "json": JsonDocument,
    "file_exists": FileExists,
}

# What the framework adds by itself; no spec can name these.
DERIVED_KINDS: dict[str, type[Scorer]] = {
    "tool_outage": ToolOutage,
    "files_changed": FilesChanged,
}

MAX_SCORERS = 20


def kind_tag(value: object) -> str | None:
    """The tag pydantic chooses a union's member by. "=" keeps tags out of field paths."""
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return f"={kind}" if isinstance(kind, str) else None


ScorerSpec = Annotated[
    Annotated[NonEmpty, Tag("=non_empty")]
    | Annotated[Contains, Tag("=contains")]
    | Annotated[JsonDocument, Tag("=json")]
    | Annotated[FileExists, Tag("=file_exists")],
    Discriminator(kind_tag),
]
