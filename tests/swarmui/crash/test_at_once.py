"""Everything at the same moment: eight branches ending together, every wake-up several times."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import celery
import pytest

if TYPE_CHECKING:
    from tests.swarmui.crash.ground import Ground

pytestmark = [pytest.mark.installation, pytest.mark.timeout(90)]

RUNS = 6
TIMES = 3


def test_wake_ups_three_times_over_end_every_run_once(ground: Ground) -> None:
    settings = ground.installation.env
    app = celery.Celery(broker=settings["REDIS_URL"])
    app.conf.task_default_queue = settings["SWARMUI_QUEUE"]

    def wake(task: str, query: str) -> None:
        for (found,) in ground.ask(query):
            for _ in range(TIMES):
                app.send_task(f"swarmui.{task}", args=[str(found)])

    with ThreadPoolExecutor(RUNS) as pool:
        run_ids = list(pool.map(lambda _: ground.start(*["quick"] * 8), range(RUNS)))
    for _ in range(2):
        wake("execute_attempt", "SELECT id FROM swarmui_attempt WHERE state = 'queued' LIMIT 40")
        wake("score_attempt", "SELECT id FROM swarmui_attempt WHERE state = 'returned' LIMIT 40")
        wake("close_delegation", "SELECT id FROM swarmui_delegation WHERE state = 'open' LIMIT 40")
    ground.wait_ended(*run_ids)
    for run_id in run_ids:
        assert ground.outcomes(run_id) == [["ok"]] * 8
    ground.assert_whole(run_ids)
    assert_logs_are_quiet(ground)


def assert_logs_are_quiet(ground: Ground) -> None:
    """The database had to break no tie: no deadlock, and nobody waited too long for a lock."""
    logs = "".join(program.log() for program in ground.installation.workers)
    for word in ("deadlock detected", "lock timeout", "statement timeout"):
        assert word not in logs
