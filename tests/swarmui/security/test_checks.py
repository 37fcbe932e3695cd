"""System checks: each finds its fault, and nothing where there is none."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings

from swarmui import checks
from swarmui.models import LedgerEvent

TABLE = LedgerEvent._meta.db_table


def _ids(found: Any) -> list[str]:
    return [message.id for message in found]


def test_every_name_that_is_dispatched_is_a_task() -> None:
    assert checks.every_dispatch_name_is_a_task() == []


def test_a_name_that_is_no_task_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "TASK_NAMES", ("execute_attempt", "mow_the_lawn"))
    (found,) = checks.every_dispatch_name_is_a_task()
    assert (found.id, "mow_the_lawn" in found.msg) == ("swarmui.E001", True)


def test_a_scheduled_name_that_is_no_task_is_found() -> None:
    with override_settings(CELERY_BEAT_SCHEDULE={"x": {"task": "swarmui.nap", "schedule": 1}}):
        assert _ids(checks.every_dispatch_name_is_a_task()) == ["swarmui.E001"]


@pytest.mark.parametrize(
    ("production", "debug", "found"),
    [(True, True, ["swarmui.E002"]), (True, False, []), (False, True, []), (False, False, [])],
)
def test_production_is_never_in_debug(production: bool, debug: bool, found: list[str]) -> None:
    with override_settings(PRODUCTION=production, DEBUG=debug):
        assert _ids(checks.production_is_not_in_debug()) == found


@pytest.mark.parametrize(
    ("production", "given", "found"),
    [(True, False, ["swarmui.E003"]), (True, True, []), (False, False, [])],
)
def test_production_is_given_its_secret_key(
    production: bool, given: bool, found: list[str]
) -> None:
    with override_settings(PRODUCTION=production, SECRET_KEY_IS_GIVEN=given):
        assert _ids(checks.production_has_a_secret_key()) == found


@pytest.fixture
def narrow_role(db: None) -> Iterator[str]:
    """A database role that may read and append, and nothing more."""
    role = f"ledger_writer_of_test_{os.getpid()}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {role} NOLOGIN")
        cursor.execute(f"GRANT SELECT, INSERT ON {TABLE} TO {role}")
        cursor.execute(f"SET LOCAL ROLE {role}")
    yield role
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")


@pytest.mark.postgresql
@pytest.mark.django_db
def test_a_user_that_owns_the_ledger_is_an_error_in_production() -> None:
    with override_settings(PRODUCTION=True):
        found = checks.ledger_cannot_be_rewritten(databases=["default"])
        deployed = checks.ledger_could_be_rewritten()
    assert _ids(found) == ["swarmui.E004"] * 4  # UPDATE, DELETE, TRUNCATE, and owning it
    assert _ids(deployed) == ["swarmui.E004"] * 4


@pytest.mark.postgresql
@pytest.mark.django_db
def test_outside_production_it_is_a_warning_of_deploy_alone() -> None:
    assert checks.ledger_cannot_be_rewritten(databases=["default"]) == []
    assert set(_ids(checks.ledger_could_be_rewritten())) == {"swarmui.W004"}


@pytest.mark.postgresql
def test_a_user_that_may_only_read_and_append_is_right(narrow_role: str) -> None:
    assert checks.ledger_faults(connection) == []


@pytest.mark.postgresql
@pytest.mark.parametrize("right", ["UPDATE", "DELETE", "TRUNCATE"])
def test_each_right_too_many_is_named(narrow_role: str, right: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")
        cursor.execute(f"GRANT {right} ON {TABLE} TO {narrow_role}")
        cursor.execute(f"SET LOCAL ROLE {narrow_role}")
    (fault,) = checks.ledger_faults(connection)
    assert right in fault


@pytest.mark.django_db
def test_a_database_without_users_has_no_fault(request: pytest.FixtureRequest) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("this run is not on SQLite")
    with override_settings(PRODUCTION=True):
        assert checks.ledger_cannot_be_rewritten(databases=["default"]) == []
