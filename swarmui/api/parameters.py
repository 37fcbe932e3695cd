"""Parameters, their bounds, and the refusal of those an operation does not know."""

from http import HTTPStatus
from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Header, Query
from pydantic import AfterValidator

from swarmui.api.problems import ApiProblem
from swarmui.selectors.runs import MAX_PAGE
from verifier.lifecycle import NodeStatus

MAX_SEQ = 2**63 - 1  # the database's largest whole number


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a search text has no NUL character")
    return text


After = Annotated[int, Query(ge=0, le=MAX_SEQ, description="Only what came after this seq.")]
PastSeq = Annotated[
    int | None, Query(ge=1, le=MAX_SEQ, description="The tree as it was after this event.")
]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description=f"1 to {MAX_PAGE}.")]
PageCursor = Annotated[UUID | None, Query(description="The `next` of the page before.")]
StatusFilter = Annotated[NodeStatus | None, Query(description="Only runs of this status.")]
SearchText = Annotated[
    str,
    Query(max_length=200, description="Only runs whose goal holds this text."),
    AfterValidator(_without_nul),
]
Include = Annotated[Literal["nodes"] | None, Query(description="`nodes`: with all of them.")]
IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="1 to 200 visible ASCII characters."),
]


def refuse_unknown(request: HttpRequest, *known: str) -> None:
    """422 for a parameter that would have no effect: a filter ignored is a wrong answer."""
    unknown = [name for name in request.GET if name not in known]
    if unknown:
        raise ApiProblem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"This address takes {', '.join(known) or 'no parameters'}.",
            errors=[(name, "is not a parameter of this address") for name in unknown],
        )
