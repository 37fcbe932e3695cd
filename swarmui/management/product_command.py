"""What the product's own commands share: a database that is ready, and errors in one line."""

import sys
import uuid
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import OperationalError, connections
from django.db.migrations.executor import MigrationExecutor

from swarmui.json_form import json_bytes
from swarmui.models import Run

USAGE = 2


class UsageError(Exception):
    """The operator's mistake: its lines are printed without a traceback, exit code 2."""


class ProductCommand(BaseCommand):
    """A command that reads or writes the product's data."""

    requires_system_checks: list[str] = []
    suppressed_base_arguments = {
        "--version", "-v", "--verbosity", "--settings", "--pythonpath", "--traceback",
        "--no-color", "--force-color",
    }  # fmt: skip

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            super().run_from_argv(argv)
        except UsageError as error:
            self.stderr.write(str(error), lambda line: line)
            sys.exit(USAGE)

    def execute(self, *args: Any, **options: Any) -> str | None:
        ensure_database_is_ready()
        return super().execute(*args, **options)

    def print_json(self, value: object) -> None:
        """The document as the API gives it, over several lines."""
        self.stdout.write(json_bytes(value, indented=True).decode())


def ensure_database_is_ready() -> None:
    """Migrates the embedded default's own database; of any other, says what it lacks."""
    database = connections["default"]
    try:
        executor = MigrationExecutor(database)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except OperationalError as error:
        raise UsageError(f"the database does not answer: {str(error).splitlines()[0]}") from error
    if not plan:
        return
    if not settings.EMBEDDED or database.vendor != "sqlite":
        raise UsageError(f"the database lacks {len(plan)} migrations: run `swarmui migrate` first")
    call_command("migrate", verbosity=0, interactive=False)


def run_called(name: str) -> Run:
    """The run with this id, or with the only id that begins so; raises UsageError."""
    text = name.strip().lower()
    try:
        found = list(Run.objects.filter(pk=uuid.UUID(text))[:1])
    except ValueError:
        found = [run for run in Run.objects.only("id") if str(run.pk).startswith(text)][:2]
    if len(found) != 1:
        raise UsageError(f"{'no' if not found else 'more than one'} run is called {name!r}")
    return found[0]
