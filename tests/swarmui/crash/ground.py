"""A production set to be broken, and what must hold whatever was broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import psycopg

from tests.support.installation import Installation
from tests.waiting import wait_until
from verifier.lifecycle import TERMINAL

MODEL = "recorded:tests/swarmui/crash/recordings.yaml"
LEASE_S = 4.0  # a busy machine may stop a process for a second or two
END_S = 40
Row = tuple[Any, ...]


class Ground:
    """The set, and its database seen from outside as its owner."""

    def __init__(self, installation: Installation, database_url: str, redis_url: str) -> None:
        self.installation = installation
        self.redis_url = redis_url
        self._database_url = database_url

    def ask(self, query: str, *parameters: object) -> list[Row]:
        with psycopg.connect(self._database_url, autocommit=True) as connection:
            return connection.execute(query.encode(), parameters).fetchall()

    def start(self, *roles: str, **spec: Any) -> str:
        """A run with one branch per role; the recording says what a role does."""
        branches = [{"role": role, "task_brief": "Do it."} for role in roles]
        body = {"goal": "Bear it", "model": MODEL, "branches": branches, **spec}
        answer = self.installation.post("/api/v1/runs", body)
        assert answer.status == 201, answer.text
        return str(answer.json()["id"])

    def statuses(self, run_id: str) -> list[str]:
        """Of the root, then of each branch."""
        query = "SELECT status FROM swarmui_node WHERE run_id = %s ORDER BY spawn_seq"
        return [status for (status,) in self.ask(query, run_id)]

    def outcomes(self, run_id: str) -> list[list[str | None]]:
        """Of each branch's attempts, in order; None for one under way."""
        query = """SELECT n.spawn_seq, a.outcome FROM swarmui_attempt a
                   JOIN swarmui_node n ON n.id = a.node_id WHERE n.run_id = %s
                   ORDER BY n.spawn_seq, a.number"""
        found: dict[int, list[str | None]] = {}
        for branch, outcome in self.ask(query, run_id):
            found.setdefault(branch, []).append(outcome)
        return list(found.values())

    def entries(self, run_id: str) -> int:
        """What its attempts have recorded so far."""
        query = """SELECT count(*) FROM swarmui_trajectoryentry t
                   JOIN swarmui_attempt a ON a.id = t.attempt_id
                   JOIN swarmui_node n ON n.id = a.node_id WHERE n.run_id = %s"""
        return int(self.ask(query, run_id)[0][0])

    def wait(self, predicate: Callable[[], object], what: str, timeout: float = END_S) -> None:
        try:
            wait_until(predicate, timeout, what=what, interval=0.05)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.installation.tails()}") from None

    def wait_at_work(self, run_id: str, entries: int) -> None:
        """Until the attempts have recorded so many entries."""
        self.wait(lambda: self.entries(run_id) >= entries, f"{entries} entries in {run_id}")

    def wait_ended(self, *run_ids: str) -> None:
        for run_id in run_ids:
            self.wait(lambda: self.statuses(run_id)[0] in TERMINAL, f"the end of {run_id}")  # noqa: B023

    def assert_whole(self, run_ids: Sequence[str]) -> None:
        """Of runs that have ended: everything that no crash may break."""
        for run_id in run_ids:
            assert set(self.statuses(run_id)) <= TERMINAL
            verified = self.installation.cli("ledger", "verify", run_id)
            assert verified.returncode == 0, verified.stdout + verified.stderr
            self._assert_ledger(run_id)
            reserved = "SELECT tokens_reserved FROM swarmui_run WHERE id = %s"
            assert self.ask(reserved, run_id) == [(0,)]
        assert self.ask("SELECT task, argument FROM swarmui_outbox") == []
        database = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        assert self.ask(database) == [(0,)]

        idle = """SELECT query FROM pg_stat_activity WHERE datname = current_database()
                  AND state LIKE 'idle in transaction%%' AND state_change < now() - interval '2 s'
                  AND %s"""
        assert self.ask(idle, True) == []

    def _assert_ledger(self, run_id: str) -> None:
        events = self.ask(
            "SELECT seq, subject, subject_id, event FROM swarmui_ledgerevent WHERE run_id = %s "
            "ORDER BY seq",
            run_id,
        )
        assert [event[0] for event in events] == list(range(1, len(events) + 1))
        ends = ("result", "cancel", "reconcile")
        ended = [str(event[2]) for event in events if event[1] == "swarm_node" and event[3] in ends]
        nodes = self.ask("SELECT id FROM swarmui_node WHERE run_id = %s", run_id)
        assert sorted(ended) == sorted(str(node) for (node,) in nodes)
