"""Reading one node: what it was told, what it did, what its gates said."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Router

from swarmui.api.answers import json_answer
from swarmui.api.auth import require
from swarmui.api.parameters import refuse_unknown
from swarmui.api.schemas import NodeDetail, errors_of
from swarmui.selectors.documents import node_document
from swarmui.services.roles import Action

router = Router(tags=["nodes"])


@router.get(
    "/nodes/{uuid:node_id}",
    response={200: NodeDetail, **errors_of(401, 403, 404, 422)},
    summary="One node",
    operation_id="get_node",
)
def get_node(request: HttpRequest, node_id: UUID) -> HttpResponse:
    """Brief, every attempt with its receipt, gates and trajectory."""
    require(request, Action.SEE_RUNS)
    refuse_unknown(request)
    return json_answer(node_document(node_id))
