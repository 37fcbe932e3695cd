"""What the hub asks the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore

from swarmui.live import reading
from swarmui.live.hub import Head
from swarmui.live.messages import CloseCode
from swarmui.live.reading import DatabaseReader, admit
from swarmui.live.viewer import Pass
from swarmui.models import Node
from tests.swarmui.live.stored_runs import end_run, make_run, make_user, sign_in, touch

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_head_is_the_seq_and_the_status_of_the_root() -> None:
    open_run, ended = await sync_to_async(make_run)(), await sync_to_async(make_run)()
    await sync_to_async(end_run)(ended)
    heads = await DatabaseReader().heads([open_run.pk, ended.pk, uuid4()])
    assert heads == {
        open_run.pk: Head(3, "queued", terminal=False),
        ended.pk: Head(4, "ok", terminal=True),
    }


async def test_a_batch_holds_the_rows_changed_after_each_cursor() -> None:
    run = await sync_to_async(make_run)(3)
    batches = await DatabaseReader().batches(run.pk, [0, 2, 3])
    assert [(batch.seq, len(batch.rows or ())) for batch in batches] == [(3, 3), (3, 1), (3, 0)]


async def test_a_changed_row_comes_once_however_often_it_changed() -> None:
    run = await sync_to_async(make_run)(2)
    root = await Node.objects.aget(run=run, parent=None)
    for number in range(5):
        await sync_to_async(touch)(root, reason=f"r{number}")
    (batch,) = await DatabaseReader().batches(run.pk, [2])
    assert batch.seq == 7
    assert [row[0] for row in batch.rows or ()] == [str(root.pk)]


async def test_more_rows_than_the_limit_are_not_read_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = await sync_to_async(make_run)(4)
    monkeypatch.setattr(reading, "MAX_ROWS_BEHIND", 3)
    batches = await DatabaseReader().batches(run.pk, [0, 1])
    assert [batch.rows is None for batch in batches] == [True, False]
    assert [batch.seq for batch in batches] == [4, 4]


async def test_one_visit_of_two_cursors_is_a_handful_of_queries(
    django_assert_max_num_queries: Any,
) -> None:
    run = await sync_to_async(make_run)(4)

    def visit() -> None:
        with django_assert_max_num_queries(8):
            reading._batches(run.pk, [0, 3])

    await sync_to_async(visit)()


async def test_only_people_are_admitted_and_only_to_runs_there_are() -> None:
    run, user = await sync_to_async(make_run)(), await sync_to_async(make_user)()
    assert await admit(user, run.pk) == Head(3, "queued", terminal=False)
    assert await admit(user, uuid4()) is None
    assert await admit(AnonymousUser(), run.pk) is None


def sign_out(user: Any, session_key: str) -> None:
    SessionStore(session_key).flush()


def change_password(user: Any, session_key: str) -> None:
    user.set_password("another")
    user.save()


def deactivate(user: Any, session_key: str) -> None:
    get_user_model().objects.filter(pk=user.pk).update(is_active=False)


def delete(user: Any, session_key: str) -> None:
    user.delete()


def expire(user: Any, session_key: str) -> None:
    session = SessionStore(session_key)
    session.set_expiry(-1)
    session.save()


def outlive(user: Any, session_key: str) -> None:
    """Seven days after signing in a session is over, however busy it was."""
    session = SessionStore(session_key)
    session["signed_in_at"] = "2020-01-01T00:00:00+00:00"
    session.save()


@pytest.mark.parametrize("ending", [sign_out, change_password, deactivate, delete, expire, outlive])
async def test_whatever_ends_a_session_ends_its_sockets(
    ending: Callable[[Any, str], None],
) -> None:
    def scene() -> tuple[Any, Pass, Pass]:
        run, user, other = make_run(), make_user(), make_user("bob")
        mine = Pass(sign_in(user), user.pk, run.pk)  # type: ignore[attr-defined]
        return user, mine, Pass(sign_in(other), other.pk, run.pk)  # type: ignore[attr-defined]

    user, mine, theirs = await sync_to_async(scene)()
    assert await DatabaseReader().withdrawn([mine, theirs]) == {}
    await sync_to_async(ending)(user, mine.session_key)
    assert await DatabaseReader().withdrawn([mine, theirs]) == {mine: CloseCode.SIGN_IN}


async def test_a_session_that_now_signs_in_somebody_else_ends_the_socket() -> None:
    def scene() -> Pass:
        run, user = make_run(), make_user()
        return Pass(sign_in(user), user.pk + 1, run.pk)  # type: ignore[attr-defined]

    entry = await sync_to_async(scene)()
    assert await DatabaseReader().withdrawn([entry]) == {entry: CloseCode.SIGN_IN}
