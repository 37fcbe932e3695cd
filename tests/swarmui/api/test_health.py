"""Alive is not ready: what each check says when its part is away."""

from typing import Any

import pytest
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client, override_settings

pytestmark = pytest.mark.django_db


def test_ready_when_database_and_migrations_are_there(client: Client) -> None:
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (
        200, {"ready": True, "checks": {"database": "ok", "migrations": "ok"}}
    )  # fmt: skip


def test_a_migration_not_applied_is_not_ready(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda *_: [object(), object()])
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["migrations"]) == (503, "2 not applied")


def test_a_database_that_is_away_is_alive_but_not_ready(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*args: object, **kwargs: object) -> Any:
        raise Error("password authentication failed for user admin")

    monkeypatch.setattr(connection, "cursor", away)
    assert client.get("/healthz").status_code == 200
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {"database": "does not answer", "migrations": "not known"}


def test_a_broker_that_is_away_is_not_ready(client: Client) -> None:
    url = "redis://user:secret@127.0.0.1:1/0"
    with override_settings(EMBEDDED=False, CELERY_BROKER_URL=url):
        answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["broker"] == "does not answer"
    assert b"secret" not in answer.content


def test_a_broker_that_is_there_is_ready(client: Client, redis_url: str) -> None:
    with override_settings(EMBEDDED=False, CELERY_BROKER_URL=redis_url):
        assert client.get("/readyz").json()["checks"]["broker"] == "ok"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_is_only_asked(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405
    assert client.head(path).status_code == 200
