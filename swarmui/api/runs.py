"""Starting a run, and reading runs: list, document, tree, rows, events."""

import hashlib
import json
import re
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from ninja import Router

from swarmui.api.answers import json_answer
from swarmui.api.auth import require
from swarmui.api.bodies import read_json
from swarmui.api.parameters import (
    After,
    IdempotencyKey,
    Include,
    Limit,
    PageCursor,
    PastSeq,
    SearchText,
    StatusFilter,
    refuse_unknown,
)
from swarmui.api.problems import ApiProblem
from swarmui.api.schemas import EventPage, Rows, RunDocument, RunPage, errors_of
from swarmui.execution.launch import launch_run
from swarmui.selectors import documents, runs, tree
from swarmui.selectors.accepted import accepted_document
from swarmui.selectors.runs import PAGE, RunFilter
from swarmui.services.roles import Action
from swarmui.services.runs import KeyReused, Launch
from verifier.spec import RunSpec, SpecError, parse_run_spec

router = Router(tags=["runs"])

_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_SPEC_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A run spec.",
        "content": {"application/json": {"schema": {"$ref": "schemas/run-spec.json"}}},
    }
}


@router.post(
    "/runs",
    response={
        201: RunDocument,
        200: RunDocument,
        **errors_of(400, 401, 403, 409, 413, 415, 422),
    },
    summary="Start a run",
    operation_id="start_run",
    openapi_extra=_SPEC_BODY,
)
def post_run(request: HttpRequest, idempotency_key: IdempotencyKey = None) -> HttpResponse:
    """Takes a run spec and answers with the run as it was accepted; `Location` names it.

    The same `Idempotency-Key` with the same body starts nothing and gets the same answer with
    200; with another body it is a 409. A spec that does not fit is a 422 whose `errors[]` name
    each field by its path.
    """
    actor = require(request, Action.START_RUN)
    refuse_unknown(request)
    key = _checked_key(idempotency_key)
    body = read_json(request)
    spec = _spec_of(body)
    try:
        launch = launch_run(
            spec,
            owner=actor.user,
            origin=actor.origin,
            roots=settings.WORKSPACE_ROOTS,
            cwd=settings.BASE_DIR,
            idempotency_key=key,
            body_hash=_hash(body),
        )
    except SpecError as error:
        raise _unfit(error) from None
    except KeyReused:
        raise ApiProblem(
            HTTPStatus.CONFLICT,
            "This Idempotency-Key was used before, with another body. Use a new one.",
        ) from None
    return _accepted(request, launch)


@router.get(
    "/runs",
    response={200: RunPage, **errors_of(401, 403, 422)},
    summary="List runs",
    operation_id="list_runs",
)
def list_runs(
    request: HttpRequest,
    status: StatusFilter = None,
    q: SearchText = "",
    after: PageCursor = None,
    limit: Limit = PAGE,
) -> HttpResponse:
    """Newest first, page by page. Runs started meanwhile move no page.

    There is no filter by verdict or gate while nothing in a run is verified: asking is a 422.
    """
    require(request, Action.SEE_RUNS)
    refuse_unknown(request, "status", "q", "after", "limit")
    page, following = runs.run_list(RunFilter(status=status, q=q, after=after, limit=limit))
    return json_answer({"runs": page, "next": following})


@router.get(
    "/runs/{uuid:run_id}",
    response={200: RunDocument, **errors_of(401, 403, 404, 422)},
    summary="One run",
    operation_id="get_run",
)
def get_run(request: HttpRequest, run_id: UUID, include: Include = None) -> HttpResponse:
    """Status, verdicts, budget and, when asked for, every node with its attempts."""
    require(request, Action.SEE_RUNS)
    refuse_unknown(request, "include")
    return json_answer(documents.run_document(run_id, include_nodes=include == "nodes"))


@router.get(
    "/runs/{uuid:run_id}/tree",
    response={200: Rows, **errors_of(401, 403, 404, 422)},
    summary="The tree of a run",
    operation_id="get_tree",
)
def get_tree(request: HttpRequest, run_id: UUID, at: PastSeq = None) -> HttpResponse:
    """All nodes as arrays; `seq` is what to ask `rows` for afterwards."""
    require(request, Action.SEE_RUNS)
    refuse_unknown(request, "at")
    found = tree.skeleton(run_id) if at is None else tree.skeleton_at(run_id, at)
    if not found["rows"]:  # the first event of every run is its root
        raise ApiProblem(HTTPStatus.NOT_FOUND, "There is nothing with this id.")
    return json_answer(found)


@router.get(
    "/runs/{uuid:run_id}/rows",
    response={200: Rows, **errors_of(401, 403, 404, 422)},
    summary="Nodes that changed",
    operation_id="get_rows",
)
def get_rows(request: HttpRequest, run_id: UUID, after: After = 0) -> HttpResponse:
    """The present rows of the nodes that changed after `after`, put over the tree held before."""
    require(request, Action.SEE_RUNS)
    refuse_unknown(request, "after")
    return json_answer(tree.rows_after(run_id, after))


@router.get(
    "/runs/{uuid:run_id}/events",
    response={200: EventPage, **errors_of(401, 403, 404, 422)},
    summary="The ledger of a run",
    operation_id="get_events",
)
def get_events(
    request: HttpRequest, run_id: UUID, after: After = 0, limit: Limit = PAGE
) -> HttpResponse:
    """Events in their order, without a gap: 1, 2, 3 … `seq` is the last one there is now."""
    require(request, Action.SEE_RUNS)
    refuse_unknown(request, "after", "limit")
    return json_answer(documents.events_after(run_id, after, limit))


def _checked_key(key: str | None) -> str | None:
    if key is not None and not _KEY.fullmatch(key):
        raise ApiProblem(
            HTTPStatus.BAD_REQUEST, "An Idempotency-Key has 1 to 200 visible ASCII characters."
        )
    return key


def _spec_of(body: Any) -> RunSpec:
    try:
        return parse_run_spec(body)
    except SpecError as error:
        raise _unfit(error) from None


def _unfit(error: SpecError) -> ApiProblem:
    problems = [(problem.path, problem.message) for problem in error.problems]
    return ApiProblem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        f"{len(problems)} field(s) of the spec do not fit.",
        errors=problems,
    )


def _hash(body: Any) -> str:
    """Equal for bodies that mean the same, however they were spaced and ordered."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _accepted(request: HttpRequest, launch: Launch) -> HttpResponse:
    location = f"{request.path}/{launch.run.pk}"
    return json_answer(
        accepted_document(launch.run),
        status=HTTPStatus.CREATED if launch.created else HTTPStatus.OK,
        headers={"Location": location},
    )
