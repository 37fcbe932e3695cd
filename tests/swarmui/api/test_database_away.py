"""A database that is away for a moment: 503 and when to ask again, and nothing about the inside."""

from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client
from psycopg_pool import PoolTimeout

from swarmui.selectors import runs
from swarmui.services import outages, tokens

pytestmark = pytest.mark.django_db
ERRORS = [
    OperationalError("terminating connection of user admin at 10.0.0.7"),
    InterfaceError("the connection is closed"),
]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("place", [(tokens, "find_token"), (runs, "run_list")])
def test_says_when_to_ask_again(
    viewer: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, place: tuple[Any, str]
) -> None:
    def away(*args: object, **kwargs: object) -> Any:
        raise error

    monkeypatch.setattr(*place, away)
    answer = viewer.get("/runs")
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    assert answer.json()["status"] == 503
    assert b"admin" not in answer.content


def test_a_bug_is_still_a_500(viewer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(runs, "run_list", broken)
    assert viewer.get("/runs").status_code == 500


@pytest.mark.parametrize("error", ERRORS)
def test_a_page_says_so_too(client: Client, monkeypatch: pytest.MonkeyPatch, error: Any) -> None:
    def away(*args: object, **kwargs: object) -> Any:
        raise error

    monkeypatch.setattr("swarmui.views.sign_in.read_link", away, raising=False)
    monkeypatch.setattr("swarmui.services.sign_in.read_link", away)
    client.raise_request_exception = False
    answer = client.get("/sign-in/link/abc/")
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    assert b"admin" not in answer.content


class Cause(Exception):
    def __init__(self, sqlstate: str | None) -> None:
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("cause", "renews"),
    [
        (Cause("57P01"), True),  # an administrator, or a restart, has ended it
        (Cause("08006"), True),
        (Cause(None), True),  # the server is simply gone
        (Cause("57014"), False),  # one statement took too long
        (Cause("55P03"), False),  # one lock did
        (Cause("40P01"), False),
        (PoolTimeout("couldn't get a connection"), False),  # overload is not made worse
    ],
)
def test_only_a_dead_connection_has_all_of_them_replaced(
    monkeypatch: pytest.MonkeyPatch, cause: Exception, renews: bool
) -> None:
    class Pool:
        drained = False

        def drain(self) -> None:
            self.drained = True

    class Connection:
        pool = Pool()

    monkeypatch.setattr(outages, "connection", Connection)
    fault = OperationalError("no answer")
    fault.__cause__ = cause
    outages.renew_connections(fault)
    assert Connection.pool.drained is renews
