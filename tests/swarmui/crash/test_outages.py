"""The database and the broker go away for a moment; the web process dies while it answers."""

from __future__ import annotations

import os
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import TYPE_CHECKING

import pytest
import redis

from tests.support.redis_server import OWNER_KEY

if TYPE_CHECKING:
    from tests.swarmui.crash.ground import Ground

pytestmark = [pytest.mark.installation, pytest.mark.timeout(90)]

END_SESSIONS = """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                  WHERE datname = current_database() AND pid <> pg_backend_pid()"""


def test_attempts_outlive_the_end_of_every_database_connection(ground: Ground) -> None:
    run_id = ground.start("reader", "writer", "stepper")
    ground.wait_at_work(run_id, 8)
    assert len(ground.ask(END_SESSIONS)) >= 3
    asked = time.monotonic()
    answers = [ground.installation.get(f"/api/v1/runs/{run_id}", role="viewer") for _ in range(10)]
    statuses = [answer.status for answer in answers]
    assert set(statuses) <= {200, 503}
    assert statuses.count(503) <= 2, "one dead connection after the other was handed out"
    assert all(answer.headers["Retry-After"] for answer in answers if answer.status == 503)
    assert time.monotonic() - asked < 4
    ground.wait_ended(run_id)
    assert ground.outcomes(run_id) == [["ok"]] * 3  # nobody had to begin again
    ground.assert_whole([run_id])


def test_attempts_outlive_a_broker_that_drops_everybody_and_forgets_everything(
    ground: Ground,
) -> None:
    run_id = ground.start("reader", "writer", "stepper")
    ground.wait_at_work(run_id, 8)
    with redis.Redis.from_url(ground.redis_url) as client:
        client.flushdb()
        client.set(OWNER_KEY, os.getpid())
        mine, number = client.client_id(), ground.redis_url.rpartition("/")[2]
        for other in client.client_list():
            if other["db"] == number and int(other["id"]) != mine:
                client.client_kill_filter(_id=other["id"])
    waiting = ground.start("quick", "quick")
    ground.wait_ended(run_id, waiting)
    assert ground.outcomes(run_id) == [["ok"]] * 3
    assert ground.statuses(waiting) == ["ok"] * 3
    ground.assert_whole([run_id, waiting])


def test_a_run_that_was_asked_for_exists_once_though_the_server_died_answering(
    ground: Ground,
) -> None:
    server = ground.installation["server"]
    body = {
        "goal": "Once",
        "branches": [
            {
                "role": "program",
                "task_brief": "Run.",
                "worker": {"kind": "command", "argv": ["true"], "isolation": "host"},
            }
        ],
    }

    def post(key: str) -> str | None:
        try:
            answer = ground.installation.post("/api/v1/runs", body, Idempotency_Key=key)
        except (OSError, HTTPException):
            return None  # the server was killed, before its answer or in it
        return str(answer.json()["id"])

    begun: list[str] = []
    for delay_s in (0.0, 0.01, 0.03):
        keys = [uuid.uuid4().hex for _ in range(4)]
        killing = threading.Timer(delay_s, server.kill)
        with ThreadPoolExecutor(4) as pool:
            killing.start()
            first = list(pool.map(post, keys))
        killing.join()
        server.start()
        ground.installation.wait_ready()
        second, third = [post(key) for key in keys], [post(key) for key in keys]
        assert None not in second
        assert second == third
        assert all(was in (None, now) for was, now in zip(first, second, strict=True))
        begun += [str(run_id) for run_id in second]
    ground.wait_ended(*begun)
    found = ground.ask("SELECT count(*) FROM swarmui_run WHERE goal = 'Once'")
    assert found == [(len(begun),)]
    ground.assert_whole(begun[::4])
