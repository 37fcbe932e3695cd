"""SQLite with everything at once: eight branches, three pages, one process."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.installation import Installation
from tests.swarmui.embedded.specs import programs
from tests.swarmui.end_to_end.person import Follower, Person

RUNS = 3  # at once, of eight branches each
SCRIPT = "for n in 1 2 3 4 5 6; do echo $n > file$n; done; cat"


@pytest.mark.timeout(180)
def test_eight_branches_and_three_pages_never_find_the_database_locked(
    embedded: Installation,
) -> None:
    person = Person(embedded)
    spec = programs(*[["sh", "-c", SCRIPT]] * 8)
    run_ids = [start(embedded, spec) for _ in range(RUNS)]
    followers = [Follower(person, run_id) for run_id in run_ids for _ in range(3)]

    async def follow_all() -> None:
        await asyncio.gather(*(follower.to_the_end(90) for follower in followers))

    asyncio.run(follow_all())
    for follower in followers:
        assert len(follower.rows) == 9
        assert {row[8] for row in follower.rows.values()} == {"ok"}
    log = embedded["server"].log()
    assert "locked" not in log, log
    assert "Traceback" not in log, log


def start(installation: Installation, spec: dict[str, Any]) -> str:
    answer = installation.post("/api/v1/runs", spec)
    assert answer.status == 201, answer.text
    return str(answer.json()["id"])
