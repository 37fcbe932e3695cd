"""A database that is away for a moment: 503 and when to ask again, and nothing about the inside."""

from typing import Any

import pytest
from django.db import InterfaceError, OperationalError

from swarmui.selectors import runs
from swarmui.services import tokens

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
