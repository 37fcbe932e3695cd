"""Pages about runs: the list, one run, its plain outline."""

import time
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from swarmui.models import Run
from swarmui.selectors import runs as selector
from swarmui.selectors.documents import run_document
from swarmui.selectors.tree import skeleton
from swarmui.services.roles import Action
from swarmui.views.list_parts import address, chips, filter_of, query_of, unknown_statuses
from swarmui.views.node_parts import Asked, panel_context
from swarmui.views.nodes import found_node
from swarmui.views.outline import outline_rows
from swarmui.views.permission import require
from swarmui.views.run_parts import head_context, list_row
from swarmui.views.start_run import run_new
from swarmui.views.vocabulary import page_vocabulary

__all__ = ["newer_runs", "run_detail", "run_head", "run_list", "run_new", "run_outline"]

INLINE_NODES = 400  # more comes by its own request, so that the page itself paints at once
NO_ID = UUID(int=0)
NODE_SLOT = str(NO_ID)


@never_cache
@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    """Runs, newest first; filters and page are in the address."""
    actor = require(request, Action.SEE_RUNS)
    wanted = filter_of(request.GET)
    found, after = selector.run_list(wanted)
    context = {
        "place": "runs",
        "runs": [list_row(run) for run in found],
        "wanted": wanted,
        "unknown_filters": unknown_statuses(request.GET),
        "is_filtered": bool(wanted.status or wanted.failed or wanted.q),
        "chips": chips(wanted),
        "next_url": address(wanted, after=after) if after else None,
        "first_url": address(wanted) if wanted.after else None,
        "newer_url": f"{reverse('runs_newer')}?{query_of(wanted, after=_newest(found))}",
        "may_start": actor.may(Action.START_RUN),
    }
    return render(request, "runs/list.html", context)


def _newest(found: list[dict[str, Any]]) -> UUID:
    return UUID(found[0]["id"]) if found else NO_ID


@never_cache
@require_safe
def newer_runs(request: HttpRequest) -> HttpResponse:
    """Fragment: the shown rows as they are now, and how many runs came since the first of them."""
    require(request, Action.SEE_RUNS)
    wanted = filter_of(request.GET)
    newer = selector.newer_than(wanted.after or NO_ID, wanted)
    context = {"newer": newer, "list_url": address(wanted)}
    return render(request, "runs/_newer.html", context)


@never_cache
@require_safe
def run_detail(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """A run with its live tree; `node`, `tab` and `attempt` in the address open a node."""
    require(request, Action.SEE_RUNS)
    run = _found_run(run_id)
    context = {
        **head_context(run),
        "place": "run",
        "outline_url": reverse("run_outline", args=[run_id]),
        "vocabulary": page_vocabulary(),
        "page": _page(run_id, run),
        "skeleton": skeleton(run_id) if run["node_count"] <= INLINE_NODES else None,
        **_panel(request, run_id),
    }
    return render(request, "runs/detail.html", context)


@never_cache
@require_safe
def run_head(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Fragment: the head of the run page as it is now."""
    require(request, Action.SEE_RUNS)
    return render(request, "runs/_summary.html", head_context(_found_run(run_id)))


@never_cache
@require_safe
def run_outline(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The tree as a plain list, for browsers without scripts and for print."""
    require(request, Action.SEE_RUNS)
    run = _found_run(run_id)
    context = {**head_context(run), "place": "runs", **outline_rows(skeleton(run_id))}
    return render(request, "runs/outline.html", context)


def _found_run(run_id: UUID) -> dict[str, Any]:
    """The run without its nodes; how many it has is in `nodes`."""
    try:
        return run_document(run_id, include_nodes=False)
    except Run.DoesNotExist:
        raise Http404("there is no such run") from None


def _panel(request: HttpRequest, run_id: UUID) -> dict[str, Any]:
    asked = request.GET.get("node", "")
    if not asked:
        return {"node_wanted": False}
    try:
        node = found_node(run_id, UUID(asked))
    except (ValueError, Http404):
        return {"node_wanted": True, "node_is_missing": True, "close_url": request.path}
    return {"node_wanted": True, **panel_context(node, Asked.of(request.GET))}


def _page(run_id: UUID, run: dict[str, Any]) -> dict[str, Any]:
    """What the page's script is told. The node's address has a slot where its id goes."""
    api = f"{reverse('home')}api/v1/runs/{run_id}"
    return {
        "urls": {
            "socket": f"{reverse('home')}ws/runs/{run_id}/",
            "rows": f"{api}/rows",
            "tree": f"{api}/tree",
            "summary": reverse("run_head", args=[run_id]),
            "newRun": reverse("run_new"),
            "node": reverse("node_panel", args=[run_id, NODE_SLOT]),
        },
        "nodeSlot": NODE_SLOT,
        "terminal": run["ended_at"] is not None,
        "now_ms": time.time_ns() // 1_000_000,
    }
