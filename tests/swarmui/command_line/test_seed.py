"""Invented runs: any size, every status, and a ledger as whole as a real one's."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from django.core.management import call_command

from swarmui.management.product_command import UsageError
from swarmui.management.seeding.change import end_open_nodes
from swarmui.management.seeding.invent import ACTOR, invent
from swarmui.management.seeding.store import store
from swarmui.models import Attempt, Node, Run
from swarmui.selectors.documents import node_document, run_document
from swarmui.selectors.ledger import check_run
from swarmui.selectors.tree import rows_after, skeleton
from swarmui.services.reconcile import reap
from verifier.ledger import replay
from verifier.lifecycle import AttemptState, NodeStatus

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("nodes", [1, 2, 9, 10, 57, 600])
def test_a_run_has_exactly_the_nodes_asked_for_and_a_whole_ledger(db: None, nodes: int) -> None:
    run = store(invent(nodes, NOW))
    assert len(skeleton(run.pk)["rows"]) == nodes
    assert check_run(run.pk).faults == ()


def test_every_status_occurs(db: None) -> None:
    run = store(invent(600, NOW))
    seen = set(Node.objects.filter(run=run).values_list("status", flat=True))
    assert set(NodeStatus) - seen == set()


def test_the_events_alone_give_the_tree_without_a_problem() -> None:
    invention = invent(300, NOW)
    assert replay(invention.events).problems == ()
    assert [event.seq for event in invention.events] == list(range(1, len(invention.events) + 1))
    assert all(one.at <= two.at for one, two in pairwise(invention.events))
    assert invention.events[-1].at == NOW


def test_the_same_seed_tells_the_same_story() -> None:
    def story(seed: int) -> list[tuple[str, str]]:
        return [(draft.title, draft.status) for draft in invent(80, NOW, seed=seed).drafts.values()]

    assert story(7) == story(7)
    assert story(7) != story(8)


def test_replacements_retries_and_unknown_tokens_occur(db: None) -> None:
    run = store(invent(600, NOW))
    assert Node.objects.filter(run=run, retry_of__isnull=False).exists()
    assert Attempt.objects.filter(node__run=run, number=2).exists()
    assert Node.objects.filter(run=run, status=NodeStatus.OK, tokens=None).exists()


def test_documents_of_invented_runs_can_be_read(db: None) -> None:
    run = store(invent(120, NOW))
    document = run_document(run.pk)
    assert len(document["nodes"]) == 120
    shown = Counter(node["status"] for node in document["nodes"])
    assert sum(shown.values()) == 120
    chosen = next(node for node in document["nodes"] if node["attempts"])
    assert node_document(chosen["id"])["events"]


def test_the_reaper_leaves_invented_work_alone(db: None) -> None:
    run = store(invent(200, NOW, open_share=0.5))
    running = Attempt.objects.filter(node__run=run, state=AttemptState.RUNNING)
    before = running.count()
    assert before
    reap()
    assert running.count() == before


def test_open_nodes_end_with_their_events(db: None) -> None:
    run = store(invent(200, NOW, open_share=0.5))
    seq = end_open_nodes(run.pk, 20)
    assert seq == run.seq + 20
    changed = rows_after(run.pk, run.seq)["rows"]
    assert {row[8] for row in changed} == {NodeStatus.OK}
    assert len(changed) == 20
    assert check_run(run.pk).faults == ()


def test_only_invented_runs_can_be_changed_so(db: None) -> None:
    run = store(invent(50, NOW, open_share=0.5))
    Run.objects.filter(pk=run.pk).update(origin="cli")
    assert ACTOR != "cli"
    with pytest.raises(Run.DoesNotExist):
        end_open_nodes(run.pk, 1)


@pytest.mark.parametrize("nodes", [0, -1, 200_001])
def test_sizes_out_of_range_are_refused(db: None, nodes: int) -> None:
    with pytest.raises(UsageError, match="expected"):
        call_command("seed", nodes=nodes)
