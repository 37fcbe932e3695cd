"""The hub's visits to the database: each is one hop to a thread, whatever it asks.

The only place below ``live`` that reads rows; sockets themselves never do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.utils.crypto import constant_time_compare

from swarmui.live.hub import Batch, Head
from swarmui.live.messages import CloseCode
from swarmui.live.viewer import Pass
from swarmui.models import Node
from swarmui.selectors import tree
from swarmui.selectors.runs import status_counts
from swarmui.services.roles import Action, actor_of_user
from swarmui.services.sign_in import session_has_ended
from verifier.lifecycle import TERMINAL, NodeStatus, run_status

P = ParamSpec("P")
T = TypeVar("T")

MAX_ROWS_BEHIND = 2000  # beyond this, fetching the tree anew is cheaper for both sides


class DatabaseReader:
    """Reads heads, rows and permissions for the hub."""

    async def heads(self, run_ids: Sequence[UUID]) -> Mapping[UUID, Head]:
        return await _visit(_heads, run_ids)

    async def batches(self, run_id: UUID, cursors: Sequence[int]) -> Sequence[Batch]:
        return await _visit(_batches, run_id, cursors)

    async def withdrawn(self, entries: Sequence[Pass]) -> Mapping[Pass, CloseCode]:
        return await _visit(_withdrawn, entries)


async def admit(user: Any, run_id: UUID) -> Head | None:
    """Where the run stands, for somebody who may see it; None when there is none for them."""
    return await _visit(_admit, user, run_id)


async def _visit(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    answer: T = await database_sync_to_async(work)(*args, **kwargs)
    return answer


def _heads(run_ids: Sequence[UUID]) -> dict[UUID, Head]:
    roots = Node.objects.filter(run_id__in=run_ids, parent__isnull=True)
    found = list(roots.values_list("run_id", "run__seq", "status"))
    counts = status_counts([run_id for run_id, _, _ in found])
    return {
        run_id: Head(
            seq,
            run_status(NodeStatus(status), map(NodeStatus, counts.get(run_id, {}))),
            terminal=NodeStatus(status) in TERMINAL,
        )
        for run_id, seq, status in found
    }


def _batches(run_id: UUID, cursors: Sequence[int]) -> list[Batch]:
    return [_batch(run_id, cursor) for cursor in cursors]


def _batch(run_id: UUID, cursor: int) -> Batch:
    behind = Node.objects.filter(run_id=run_id, changed_seq__gt=cursor)
    if behind[: MAX_ROWS_BEHIND + 1].count() > MAX_ROWS_BEHIND:
        return Batch(_heads([run_id])[run_id].seq, None)
    answer = tree.rows_after(run_id, cursor)
    return Batch(answer["seq"], answer["rows"])


def _admit(user: Any, run_id: UUID) -> Head | None:
    actor = actor_of_user(user)
    if actor is None or not actor.may(Action.SEE_RUNS):
        return None
    return _heads([run_id]).get(run_id)


def _withdrawn(entries: Sequence[Pass]) -> dict[Pass, CloseCode]:
    return dict(_endings(entries))


def _endings(entries: Sequence[Pass]) -> Iterator[tuple[Pass, CloseCode]]:
    users: dict[str, Any] = {}
    for entry in entries:
        if entry.session_key not in users:
            users[entry.session_key] = _user_of_session(entry.session_key)
        user = users[entry.session_key]
        if user is None or user.pk != entry.user_id:
            yield entry, CloseCode.SIGN_IN
            continue
        actor = actor_of_user(user)
        if actor is None or not actor.may(Action.SEE_RUNS):
            yield entry, CloseCode.NOT_FOUND


def _user_of_session(session_key: str) -> Any | None:
    """The person a session still signs in: it exists, is in its time, and no password changed."""
    session = import_module(settings.SESSION_ENGINE).SessionStore(session_key).load()
    if SESSION_KEY not in session or session_has_ended(session):
        return None
    user = get_user_model().objects.filter(pk=session[SESSION_KEY], is_active=True).first()
    if user is None:
        return None
    signed_for = session.get(HASH_SESSION_KEY, "")
    return user if constant_time_compare(signed_for, user.get_session_auth_hash()) else None
