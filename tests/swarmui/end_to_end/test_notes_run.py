"""One real run from end to end, the same on one process and on the production set.

A person starts the notes example and follows it over the socket. What the socket brought equals a
fresh snapshot; the run went as its recording says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.support.installation import Installation
from tests.support.sources import ROOT
from tests.swarmui.end_to_end.person import Follower, Person

SPEC = yaml.safe_load((ROOT / "examples/notes/spec.yaml").read_text())
RUN_S = 60


def start(installation: Installation, spec: dict[str, Any] = SPEC) -> str:
    answer = installation.post("/api/v1/runs", spec)
    assert answer.status == 201, answer.text
    return str(answer.json()["id"])


@pytest.mark.timeout(180)
def test_a_run_is_followed_to_its_end_and_nothing_is_missed(installation: Installation) -> None:
    person = Person(installation)
    run_id = start(installation)
    follower = Follower(person, run_id)
    try:
        asyncio.run(follower.to_the_end(RUN_S))
    except TimeoutError:
        raise AssertionError(
            f"the run did not end: {follower.rows}\n{installation.tails()}"
        ) from None
    fresh = person.tree(run_id)
    assert follower.seq == fresh["seq"]
    assert list(follower.rows.values()) == fresh["rows"], "the socket's rows differ from a snapshot"
    document = installation.run_document(run_id)
    went_as_recorded(document)
    assert document["seq"] == follower.seq
    verified = installation.cli("ledger", "verify", run_id)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def went_as_recorded(document: dict[str, Any]) -> None:
    nodes = {
        (node["branch"], node["retry_of"] is not None): node
        for node in document["nodes"]
        if node["branch"] is not None
    }
    outcomes = {
        place: [attempt["outcome"] for attempt in node["attempts"]] for place, node in nodes.items()
    }
    assert outcomes == {
        (0, False): ["contract_failed", "ok"],  # the contract missed, then mended
        (1, False): ["ok"],  # says it wrote documentation, and wrote none
        (2, False): ["tool_error"],  # crashed
        (2, True): ["ok"],  # and done again by another node
        (3, False): ["ok"],  # a program as a worker
        (4, False): ["ok"],  # nothing to remark
    }
    assert document["status"] == "ok"
    assert document["not_verified"] is True
    assert nodes[0, False]["chosen_attempt"] == 2
    assert nodes[2, True]["retry_of"] == nodes[2, False]["id"]
    assert [place for place, node in nodes.items() if "receipt_mismatch" in node["marks"]] == [
        (1, False)
    ]


@pytest.mark.timeout(180)
def test_a_page_that_lost_its_socket_goes_on_from_its_cursor(installation: Installation) -> None:
    """Three sockets, one after the other, tell the same story as one."""
    person = Person(installation)
    run_id = start(installation)
    follower = Follower(person, run_id)

    async def follow_in_pieces() -> None:
        for _ in range(2):
            async with asyncio.timeout(RUN_S), person.socket(run_id, follower.seq) as socket:
                heard = follower.seq
                async for text in socket:
                    follower.hear(yaml.safe_load(text))
                    if follower.seq > heard:
                        break
        await follower.to_the_end(RUN_S)

    asyncio.run(follow_in_pieces())
    assert {row[0]: row for row in person.tree(run_id)["rows"]} == follower.rows


@pytest.fixture(autouse=True)
def no_program_complained(installation: Installation) -> Iterator[None]:
    """After each test: no traceback, no lock error in anybody's log."""
    yield
    programs = {installation["server"], *installation.workers}
    logs = "".join(program.log() for program in programs)
    for word in ("Traceback", "database is locked", "Task exception was never retrieved"):
        assert word not in logs, logs
