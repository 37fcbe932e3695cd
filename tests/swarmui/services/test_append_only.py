"""The database itself refuses to change or remove ledger rows."""

import uuid

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from swarmui.models import LedgerEvent, Run
from swarmui.models.append_only import TABLE, privileges
from swarmui.services import ledger
from swarmui.services.database_roles import grant_app_role

POSTGRES = [
    "UPDATE {t} SET actor = 'x'",
    "DELETE FROM {t}",
    "TRUNCATE {t}",
    "TRUNCATE {t} CASCADE",
    "TRUNCATE swarmui_run CASCADE",
    "INSERT INTO {t} SELECT * FROM {t} ON CONFLICT (id) DO UPDATE SET actor = 'x'",
    "MERGE INTO {t} a USING {t} b ON a.id = b.id WHEN MATCHED THEN UPDATE SET actor = 'x'",
    "MERGE INTO {t} a USING {t} b ON a.id = b.id WHEN MATCHED THEN DELETE",
    # a superuser in replica mode walks past ordinary triggers
    "SET LOCAL session_replication_role = replica; UPDATE {t} SET actor = 'x'",
    "DELETE FROM swarmui_run",  # by cascade
]
SQLITE = [
    "UPDATE {t} SET actor = 'x'",
    "DELETE FROM {t}",
    "INSERT OR REPLACE INTO {t} SELECT * FROM {t}",
    "REPLACE INTO {t} SELECT * FROM {t}",
    "INSERT INTO {t} SELECT * FROM {t} WHERE true ON CONFLICT (id) DO UPDATE SET actor = 'x'",
    "UPDATE OR REPLACE {t} SET actor = 'x'",
]


@pytest.fixture
def event(transactional_db):
    run = Run.objects.create(
        goal="g", spec={}, origin="test", workspace_mode="copy", created_at=timezone.now()
    )
    with transaction.atomic():
        return ledger.append(
            run.pk, subject="claim", subject_id=uuid.uuid4(), event="x", payload={}, actor="test"
        )


def refused(statement):
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(t=TABLE))


@pytest.mark.postgresql
@pytest.mark.parametrize("statement", POSTGRES)
def test_postgresql_refuses_as_the_owner_of_the_table(event, statement):
    refused(statement)
    assert list(LedgerEvent.objects.values_list("pk", "actor")) == [(event.pk, "test")]


@pytest.mark.parametrize("statement", SQLITE)
def test_sqlite_refuses(event, statement):
    if connection.vendor != "sqlite":
        pytest.skip("this run is on PostgreSQL; the SQLite suite runs these")
    refused(statement)
    assert list(LedgerEvent.objects.values_list("pk", "actor")) == [(event.pk, "test")]


@pytest.mark.postgresql
def test_the_app_role_cannot_even_lift_the_refusal(event):
    grant_app_role("swarmui_test_app", None)
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE swarmui_test_app")
    try:
        assert privileges(connection) == []
        for statement in [
            *POSTGRES,
            "ALTER TABLE {t} DISABLE TRIGGER ALL",
            "DROP TRIGGER {t}_no_change ON {t}",
            "DROP TABLE {t} CASCADE",
        ]:
            refused(statement)
        with transaction.atomic():  # what it is for still works
            ledger.append(
                event.run_id,
                subject="claim",
                subject_id=uuid.uuid4(),
                event="x",
                payload={},
                actor="app",
            )
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")
            cursor.execute("DROP OWNED BY swarmui_test_app")
            cursor.execute("DROP ROLE swarmui_test_app")
    assert LedgerEvent.objects.count() == 2
