"""Whether this process lives, and whether it may be sent work.

`/healthz` touches nothing: a database that is away is no reason to restart the process.
`/readyz` asks the database, the migrations and, where there is one, the broker; 503 names which
of them is not there, in words that tell an outsider nothing else.
"""

import logging
from collections.abc import Callable

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error as DatabaseFault
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from swarmui.api.answers import json_answer

BROKER_TIMEOUT_S = 2

logger = logging.getLogger(__name__)


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process answers at all."""
    return json_answer({"alive": True})


@login_not_required
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when every part it needs is there, else 503; each check with its own word."""
    checks = {name: check() for name, check in _checks().items()}
    ready = all(word == "ok" for word in checks.values())
    return json_answer({"ready": ready, "checks": checks}, status=200 if ready else 503)


def _checks() -> dict[str, Callable[[], str]]:
    checks: dict[str, Callable[[], str]] = {"database": _database, "migrations": _migrations}
    if not settings.EMBEDDED:
        checks["broker"] = _broker
    return checks


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
    except DatabaseFault as error:
        logger.warning("not ready: the database does not answer: %s", type(error).__name__)
        return "does not answer"
    return "ok"


def _migrations() -> str:
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseFault:
        return "not known"
    return f"{len(missing)} not applied" if missing else "ok"


def _broker() -> str:
    try:
        with redis.Redis.from_url(
            settings.CELERY_BROKER_URL,
            socket_timeout=BROKER_TIMEOUT_S,
            socket_connect_timeout=BROKER_TIMEOUT_S,
        ) as client:
            client.ping()
    except redis.RedisError as error:
        logger.warning("not ready: the broker does not answer: %s", type(error).__name__)
        return "does not answer"
    return "ok"
