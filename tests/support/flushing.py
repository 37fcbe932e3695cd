"""Emptying the tables between transactional tests, although the ledger refuses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.db import connections
from django.db.backends.base.operations import BaseDatabaseOperations

from swarmui.models.append_only import lifted


@contextmanager
def flush_may_empty_the_ledger() -> Iterator[None]:
    """Lift the append-only triggers around Django's flush, and around nothing else."""
    original = BaseDatabaseOperations.execute_sql_flush

    def execute_sql_flush(self: BaseDatabaseOperations, statements: Any) -> None:
        with lifted(connections[self.connection.alias]):
            original(self, statements)

    with patch.object(BaseDatabaseOperations, "execute_sql_flush", execute_sql_flush):
        yield
