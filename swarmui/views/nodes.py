"""The node panel, as a fragment of the run page."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from swarmui.models import Node
from swarmui.selectors.documents import node_document
from swarmui.services.roles import Action
from swarmui.views.node_parts import Asked, panel_context
from swarmui.views.permission import require


@never_cache
@require_safe
def node_panel(request: HttpRequest, run_id: UUID, node_id: UUID) -> HttpResponse:
    """One tab of one node; a person who comes here by its address is shown it on its page."""
    require(request, Action.SEE_RUNS)
    if not request.headers.get("HX-Request"):
        query = request.GET.copy()
        query["node"] = str(node_id)
        return redirect(f"{reverse('run', args=[run_id])}?{query.urlencode()}")
    node = found_node(run_id, node_id)
    return render(request, "nodes/_panel.html", panel_context(node, Asked.of(request.GET)))


def found_node(run_id: UUID, node_id: UUID) -> dict[str, Any]:
    """The document of a node of this run; 404 for any other."""
    try:
        node = node_document(node_id)
    except Node.DoesNotExist:
        raise Http404("there is no such node") from None
    if node["run"] != str(run_id):
        raise Http404("the node belongs to another run")
    return node
