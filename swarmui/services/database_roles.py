"""The database role that web and worker processes use: all rows, but the ledger only to read and
append to. Migrations run as the tables' owner."""

from django.db import connection
from psycopg import sql

from swarmui.models.append_only import TABLE


def grant_app_role(name: str, password: str | None) -> None:
    """Creates the PostgreSQL role if it is missing and gives it exactly what it needs. Run it as
    the owner of the tables, after every migration; doing it twice changes nothing."""
    role = sql.Identifier(name)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name])
        if cursor.fetchone() is None:
            cursor.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        if password is not None:
            cursor.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(password)))
        for statement in _GRANTS:
            cursor.execute(sql.SQL(statement).format(role=role, ledger=sql.Identifier(TABLE)))


_GRANTS = (
    "GRANT USAGE ON SCHEMA public TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role}",
    "REVOKE UPDATE, DELETE, TRUNCATE ON {ledger} FROM {role}",
    "REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON django_migrations FROM {role}",
)
