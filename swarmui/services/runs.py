"""Starting a run: everything that must exist with it, in one transaction."""

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from swarmui.dispatch import dispatch
from swarmui.models import Delegation, Node, Run
from swarmui.services import ledger
from swarmui.services.leases import queue_attempt
from swarmui.services.nodes import Place, spawn_node, transition_node
from verifier.brief import first_brief
from verifier.ledger import DelegationEvent, NodeEvent, Subject
from verifier.lifecycle import NodeKind, NodeStatus, WorkerKind
from verifier.spec import BranchSpec, RunSpec
from verifier.work import NodeWork, branch_work, model_name, root_work


@dataclass(frozen=True)
class Launch:
    """A run and whether this call made it (False: the same key was used before)."""

    run: Run
    created: bool


@dataclass(frozen=True)
class Order:
    """Who starts what, where. `origin` names the actor: "user:3", "token:…", "cli"."""

    spec: RunSpec
    origin: str
    owner: User | None = None
    workspace_source: Path | None = None
    base_dir: Path = field(default_factory=Path)
    idempotency_key: str | None = None
    body_hash: str = ""


class KeyReused(Exception):
    """The idempotency key was used before, with another body."""


def start_run(order: Order) -> Launch:
    """Stores the run, its root, its branches and their first attempts, and promises their
    execution. With an idempotency key that was used before, the earlier run is returned."""
    try:
        with transaction.atomic():
            run = _create_run(order)
            _plant(run, order)
    except IntegrityError:
        earlier = started_before(order.origin, order.idempotency_key, order.body_hash)
        if earlier is None:
            raise
        return earlier
    run.refresh_from_db()
    return Launch(run, created=True)


def started_before(origin: str, key: str | None, body_hash: str) -> Launch | None:
    """The run that this actor started with this idempotency key, if any. Raises `KeyReused`."""
    if key is None:
        return None
    run = Run.objects.filter(origin=origin, idempotency_key=key).first()
    if run is None:
        return None
    if run.body_hash != body_hash:
        raise KeyReused(f"the key {key!r} belongs to another request body")
    return Launch(run, created=False)


def _create_run(order: Order) -> Run:
    spec = order.spec
    budget = spec.budget
    return Run.objects.create(
        goal=spec.goal,
        spec=spec.model_dump(mode="json", by_alias=True, exclude_unset=True),
        owner=order.owner,
        origin=order.origin,
        workspace_mode=spec.workspace.mode if spec.workspace else "copy",
        workspace_source="" if order.workspace_source is None else str(order.workspace_source),
        base_dir=str(order.base_dir),
        token_cap=budget.tokens,
        usd_cap_micro=None if budget.usd is None else _micro(budget.usd),
        idempotency_key=order.idempotency_key,
        body_hash=order.body_hash,
        created_at=timezone.now(),
    )


def _micro(usd: float | Decimal) -> int:
    return int(Decimal(str(usd)) * 1_000_000)


def _plant(run: Run, order: Order) -> None:
    spec = order.spec
    work = root_work(spec) if not spec.branches else None
    root = spawn_node(
        run,
        Place(
            kind=NodeKind.ROOT,
            depth=0,
            role="root",
            topic="" if work else "delegate",
            task_brief=spec.goal,
            work=work.model_dump(mode="json", by_alias=True) if work else {},
        ),
        order.origin,
    )
    if work is not None:
        _queue_first(root, work)
    else:
        _delegate(run, root, order)


def _delegate(run: Run, root: Node, order: Order) -> None:
    delegation = Delegation.objects.create(run=run, parent=root, created_at=timezone.now())
    transition_node(root, NodeStatus.WAITING, NodeEvent.START, order.origin)
    ledger.append(
        run.pk,
        subject=Subject.DELEGATION,
        subject_id=delegation.pk,
        event=DelegationEvent.OPEN,
        payload={"parent": str(root.pk), "branches": len(order.spec.branches)},
        actor=order.origin,
    )
    for index, branch in enumerate(order.spec.branches):
        work = branch_work(order.spec, branch)
        node = spawn_node(run, _branch_place(root, delegation, index, branch, work), order.origin)
        _queue_first(node, work)


def _branch_place(
    root: Node, delegation: Delegation, index: int, branch: BranchSpec, work: NodeWork
) -> Place:
    return Place(
        kind=NodeKind.AGENT,
        depth=1,
        role=branch.role,
        topic=branch.topic,
        subtopic=branch.subtopic,
        branch=index,
        parent=root,
        delegation=delegation,
        task_brief=branch.task_brief,
        work=work.model_dump(mode="json", by_alias=True),
    )


def _queue_first(node: Node, work: NodeWork) -> None:
    attempt = queue_attempt(
        node,
        None,
        first_brief(node.task_brief),
        worker_kind=work.worker_kind,
        model=model_name(work) if work.worker_kind == WorkerKind.MODEL else "",
    )
    dispatch("execute_attempt", attempt.pk)
