"""Workers that are killed, paused, or told to end, in the middle of a model's attempt."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.swarmui.crash.ground import Ground

pytestmark = [pytest.mark.installation, pytest.mark.timeout(90)]


def test_what_only_read_is_begun_again_three_times_and_what_wrote_is_not(ground: Ground) -> None:
    worker1, worker2 = ground.installation.workers
    worker2.kill()
    run_id = ground.start("endless reader", "endless writer")
    ground.wait_at_work(run_id, 4)
    for starts in (1, 2, 3):
        worker1.kill()
        worker1.start()
        if starts < 3:
            ground.wait_at_work(run_id, 4 + 2 * starts)
    ground.wait_ended(run_id)
    assert ground.statuses(run_id) == ["lost", "lost", "cancelled"]
    assert ground.outcomes(run_id) == [["lost"] * 3, ["cancelled"]]
    ground.assert_whole([run_id])


def test_orphans_are_settled_while_every_worker_that_lives_is_busy(ground: Ground) -> None:
    """The sweep does not stand in the queue behind the work it watches over."""
    _, worker2 = ground.installation.workers
    run_id = ground.start(*["slow reader"] * 8)
    ground.wait_at_work(run_id, 16)
    worker2.kill()
    ground.wait(lambda: "queued" in ground.statuses(run_id), "a node to be queued again", 10)
    assert "ok" not in ground.statuses(run_id), "somebody had to become free first"
    ground.wait_ended(run_id)
    assert ground.statuses(run_id) == ["ok"] * 9
    ground.assert_whole([run_id])


def test_a_worker_that_was_paused_past_its_lease_writes_nothing_more(ground: Ground) -> None:
    worker1, worker2 = ground.installation.workers
    worker2.kill()
    run_id = ground.start(*["stepper"] * 4)
    ground.wait_at_work(run_id, 8)
    os.killpg(worker1.pid, signal.SIGSTOP)
    try:
        worker2.start()
        ground.wait(
            lambda: [len(of) for of in ground.outcomes(run_id)] == [2] * 4, "four takeovers"
        )
        left = written_by_first(ground, run_id)
    finally:
        os.killpg(worker1.pid, signal.SIGCONT)
    ground.wait_ended(run_id)
    assert ground.outcomes(run_id) == [["lost", "ok"]] * 4
    assert written_by_first(ground, run_id) == left
    ground.assert_whole([run_id])


def written_by_first(ground: Ground, run_id: str) -> list[tuple[object, ...]]:
    query = """SELECT a.id, a.fence, a.outcome, a.output::text, a.ended_at,
                 (SELECT count(*) FROM swarmui_trajectoryentry t WHERE t.attempt_id = a.id)
               FROM swarmui_attempt a JOIN swarmui_node n ON n.id = a.node_id
               WHERE n.run_id = %s AND a.number = 1 ORDER BY a.id"""
    return ground.ask(query, run_id)


def test_a_worker_that_is_told_to_end_lets_the_short_finish_and_stops_the_long(
    ground: Ground,
) -> None:
    worker1, worker2 = ground.installation.workers
    worker2.kill()
    run_id = ground.start("reader", "endless writer")
    ground.wait_at_work(run_id, 4)
    worker1.signal(signal.SIGTERM)
    told = time.monotonic()
    ground.wait(lambda: not worker1.is_running, "the worker to end", 15)
    assert time.monotonic() - told < 15
    worker2.start()
    ground.wait_ended(run_id)
    assert ground.outcomes(run_id) == [["ok"], ["cancelled"]]
    ground.assert_whole([run_id])
