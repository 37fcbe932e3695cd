"""The database's own refusal to change or remove ledger rows, on PostgreSQL and SQLite.

Used by the migration that installs it, and by tests that must empty a database.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "swarmui_ledgerevent"
MESSAGE = "the ledger is append-only"

POSTGRES_INSTALL = f"""
CREATE FUNCTION {TABLE}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = '42501'; END $$;
CREATE TRIGGER {TABLE}_no_change BEFORE UPDATE OR DELETE ON {TABLE}
  FOR EACH ROW EXECUTE FUNCTION {TABLE}_refuse();
CREATE TRIGGER {TABLE}_no_truncate BEFORE TRUNCATE ON {TABLE}
  FOR EACH STATEMENT EXECUTE FUNCTION {TABLE}_refuse();
ALTER TABLE {TABLE} ENABLE ALWAYS TRIGGER {TABLE}_no_change;
ALTER TABLE {TABLE} ENABLE ALWAYS TRIGGER {TABLE}_no_truncate;
"""
POSTGRES_REMOVE = f"""
DROP TRIGGER IF EXISTS {TABLE}_no_change ON {TABLE};
DROP TRIGGER IF EXISTS {TABLE}_no_truncate ON {TABLE};
DROP FUNCTION IF EXISTS {TABLE}_refuse();
"""
SQLITE_INSTALL = f"""
CREATE TRIGGER {TABLE}_no_update BEFORE UPDATE ON {TABLE}
BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END;
CREATE TRIGGER {TABLE}_no_delete BEFORE DELETE ON {TABLE}
BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END;
CREATE TRIGGER {TABLE}_no_replace BEFORE INSERT ON {TABLE}
WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id OR (run_id = NEW.run_id AND seq = NEW.seq))
BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END;
"""
SQLITE_TRIGGERS = ("no_update", "no_delete", "no_replace")


def install(connection: BaseDatabaseWrapper) -> None:
    """Makes the database refuse UPDATE, DELETE, REPLACE and TRUNCATE of ledger rows."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(POSTGRES_INSTALL)
        else:
            for statement in SQLITE_INSTALL.split("END;"):
                if statement.strip():
                    cursor.execute(f"{statement}END;")


def remove(connection: BaseDatabaseWrapper) -> None:
    """Takes the refusal away."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(POSTGRES_REMOVE)
        else:
            for name in SQLITE_TRIGGERS:
                cursor.execute(f"DROP TRIGGER IF EXISTS {TABLE}_{name}")


@contextmanager
def lifted(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Without the refusal inside the block: for emptying a test's database, nothing else."""
    remove(connection)
    try:
        yield
    finally:
        install(connection)


def privileges(connection: BaseDatabaseWrapper) -> list[str]:
    """What the current PostgreSQL role could do to the ledger that it should not be able to:
    empty for a role that may only read and insert, and always on SQLite."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT privilege FROM unnest(ARRAY['UPDATE','DELETE','TRUNCATE']) AS privilege "
            "WHERE has_table_privilege(current_user, %s, privilege)",
            [TABLE],
        )
        held: list[Any] = [row[0] for row in cursor.fetchall()]
        cursor.execute(
            "SELECT pg_has_role(current_user, tableowner, 'USAGE') FROM pg_tables "
            "WHERE tablename = %s AND schemaname = current_schema()",
            [TABLE],
        )
        row = cursor.fetchone()
    return [*held, *(["OWNER"] if row and row[0] else [])]
