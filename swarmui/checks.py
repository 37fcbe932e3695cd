"""System checks: what must hold before this installation may serve anybody.

In production a finding is an error and stops the start; elsewhere the same finding is a warning
of `check --deploy`. Source: domain §5 (the ledger is append-only, by the database's own refusal).
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from swarmui.celery import app as celery_app
from swarmui.dispatch import TASK_NAMES
from swarmui.models import LedgerEvent

MIN_SECRET_CHARS = 32
FORBIDDEN_ON_LEDGER = ("UPDATE", "DELETE", "TRUNCATE")

_LEDGER_RIGHTS = """
    SELECT c.relname,
           pg_has_role(current_user, c.relowner, 'MEMBER'),
           has_table_privilege(current_user, c.oid, 'UPDATE'),
           has_table_privilege(current_user, c.oid, 'DELETE'),
           has_table_privilege(current_user, c.oid, 'TRUNCATE')
      FROM pg_class c
     WHERE c.oid = to_regclass(%s)
"""


@register()
def every_dispatch_name_is_a_task(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """A name that is no task would be promised, published and never executed."""
    # Not `import_default_modules`: with Django it runs the system checks, and so this one again.
    celery_app.autodiscover_tasks(["swarmui"], force=True)
    scheduled = [entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()]
    names = [*(f"swarmui.{name}" for name in TASK_NAMES), *scheduled]
    return [
        Error(f"`{name}` is dispatched, but no Celery task has this name.", id="swarmui.E001")
        for name in names
        if name not in celery_app.tasks
    ]


@register()
def production_is_not_in_debug(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Pages of a debug server show source and settings to anybody."""
    if settings.PRODUCTION and settings.DEBUG:
        return [Error("DEBUG is on in production.", id="swarmui.E002")]
    return []


@register()
def production_has_a_secret_key(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Web processes that each made a key of their own would not know each other's sessions."""
    if not settings.PRODUCTION or settings.SECRET_KEY_IS_GIVEN:
        return []
    return [
        Error(
            "SECRET_KEY is not set.",
            hint=f"Set it to at least {MIN_SECRET_CHARS} random characters, once for all.",
            id="swarmui.E003",
        )
    ]


@register(Tags.database)
def ledger_cannot_be_rewritten(
    app_configs: Sequence[AppConfig] | None = None,
    databases: Iterable[str] | None = None,
    **kwargs: Any,
) -> list[CheckMessage]:
    """In production the database user of the product must not be able to change the ledger.

    Runs with `check --database default`.
    """
    if not settings.PRODUCTION or "default" not in (databases or ()):
        return []
    return [
        Error(fault, hint=_HINT, id="swarmui.E004")
        for fault in ledger_faults(connections["default"])
    ]


@register(Tags.security, deploy=True)
def ledger_could_be_rewritten(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """The same outside production, as a warning of `check --deploy`."""
    try:
        faults = ledger_faults(connection)
    except DatabaseError as error:
        faults = [
            f"Whether the ledger can be rewritten could not be checked: {type(error).__name__}"
        ]
    kind = Error if settings.PRODUCTION else Warning
    number = "E004" if settings.PRODUCTION else "W004"
    return [kind(fault, hint=_HINT, id=f"swarmui.{number}") for fault in faults]


_HINT = (
    "Migrate as an owner role, and give the role that serves only SELECT and INSERT on this table."
)


def ledger_faults(database: BaseDatabaseWrapper) -> list[str]:
    """What the current user of `database` could do to the ledger table, one sentence each.

    Always empty on SQLite, which has no users: there the triggers alone refuse.
    Raises DatabaseError when the database does not answer.
    """
    if database.vendor != "postgresql":
        return []
    with database.cursor() as cursor:
        cursor.execute(_LEDGER_RIGHTS, [f'"{LedgerEvent._meta.db_table}"'])
        row = cursor.fetchone()
    if row is None:
        return ["The ledger table does not exist."]
    table, owns, *held = row
    faults = [
        f"The database user may {right} the ledger table {table}."
        for right, has_it in zip(FORBIDDEN_ON_LEDGER, held, strict=True)
        if has_it
    ]
    if owns:
        faults.append(f"The database user owns the ledger table {table}: it could drop its guards.")
    return faults
