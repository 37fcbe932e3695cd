"""Runs in the real database, and people who look at them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.db import transaction
from django.utils import timezone

from swarmui.models import Node, Run
from swarmui.services import ledger
from verifier.lifecycle import NodeKind, NodeStatus


def make_run(nodes: int = 3) -> Run:
    """A run whose root and ``nodes - 1`` agents were spawned by events 1 … ``nodes``."""
    now = timezone.now()
    run = Run.objects.create(
        goal="g", spec={}, origin="test", workspace_mode="copy", created_at=now
    )
    root = None
    for number in range(nodes):
        node = Node.objects.create(
            run=run,
            parent=root,
            kind=NodeKind.AGENT if root else NodeKind.ROOT,
            depth=1 if root else 0,
            role=f"role {number}",
            task_brief="b",
            work={},
            created_at=now,
        )
        root = root or node
        touch(node)
        Node.objects.filter(pk=node.pk).update(spawn_seq=number + 1)
    run.refresh_from_db()
    return run


def touch(node: Node, **columns: object) -> int:
    """One event about ``node``, as every service writes it; its seq."""
    with transaction.atomic():
        event = ledger.append(
            node.run_id, subject="claim", subject_id=uuid.uuid4(), event="open",
            payload={}, actor="test",
        )  # fmt: skip
        Node.objects.filter(pk=node.pk).update(changed_seq=event.seq, **columns)
    return event.seq


def end_run(run: Run, status: NodeStatus = NodeStatus.OK) -> int:
    root = Node.objects.get(run=run, parent=None)
    return touch(root, status=status, ended_at=timezone.now())


def make_user(name: str = "ada") -> object:
    user = get_user_model().objects.create_user(name)
    user.set_unusable_password()
    user.save()
    return user


def sign_in(user: object) -> str:
    """The key of a new session of ``user``."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)  # type: ignore[attr-defined]
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()  # type: ignore[attr-defined]
    session.save()
    assert session.session_key is not None
    return session.session_key
