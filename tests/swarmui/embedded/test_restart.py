"""How `swarmui up` ends, and what it finds when it starts again."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.installation import Installation
from tests.swarmui.embedded.specs import programs
from tests.waiting import wait_until

LINK = re.compile(r"^Sign in, once and within 15 minutes: (http://\S+)$", re.MULTILINE)


@pytest.fixture
def server(embedded: Installation) -> Any:
    wait_until(lambda: "Ctrl-C stops it all" in embedded["server"].log())
    return embedded["server"]


def test_the_demo_starts_once_and_the_link_is_new_at_every_start(
    embedded: Installation, server: Any
) -> None:
    server.restart()
    embedded.wait_ready()
    log = wait_until(lambda: server.log() if server.log().count("Ctrl-C stops") == 2 else "")
    links = LINK.findall(log)
    assert len(set(links)) == 2
    assert log.count("A demo run has started") == 1
    assert len(embedded.get("/api/v1/runs", role="viewer").json()["runs"]) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_it_within_seconds_whatever_its_workers_do(
    embedded: Installation, server: Any, number: signal.Signals
) -> None:
    run_id = start(embedded, programs(["sleep", "600"], ["sleep", "601"]))
    wait_until(lambda: statuses(embedded, run_id).count("running") == 2, 20)
    begun = time.monotonic()
    server.signal(number)
    wait_until(lambda: not server.is_running, 12, what="the server to end")
    assert time.monotonic() - begun < 8
    assert server.exit_code == 0
    assert server.log().rstrip().endswith("Stopped.")
    assert processes_with("sleep 600") == []


def test_it_stops_with_a_request_and_a_socket_still_open(
    embedded: Installation, server: Any
) -> None:
    with socket.create_connection(("127.0.0.1", embedded.port)) as half_a_request:
        half_a_request.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        server.signal(signal.SIGTERM)
        wait_until(lambda: not server.is_running, 10, what="the server to end")
    assert server.exit_code == 0


def test_what_a_stopped_server_was_doing_is_taken_up_at_the_next_start(
    embedded: Installation, server: Any
) -> None:
    """A stop gives leases back: nobody has to wait for them to run out."""
    run_id = start(embedded, programs(["sleep", "600"]))
    wait_until(lambda: "running" in statuses(embedded, run_id)[1:], 20)
    server.stop()
    server.start()
    embedded.wait_ready()
    wait_until(lambda: statuses(embedded, run_id)[1:] != ["running"], 15)


@pytest.mark.timeout(180)
def test_work_that_was_queued_when_it_was_killed_is_found_again(
    embedded: Installation, server: Any
) -> None:
    """Killed, the queue in memory is gone: the database still knows."""
    busy = [start(embedded, programs(*[["sleep", "600"]] * 8))]
    wait_until(lambda: statuses(embedded, busy[0]).count("running") == 8, 30)
    waiting = start(embedded, programs(["echo", "one"], ["echo", "two"]))
    assert statuses(embedded, waiting)[1:] == ["queued", "queued"]
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.is_running)
    wait_until(lambda: processes_with("sleep 600") == [], 5, what="its programs to end with it")
    server.start()
    embedded.wait_ready()
    wait_until(lambda: statuses(embedded, waiting) == ["ok", "ok", "ok"], 20)


def start(installation: Installation, spec: dict[str, Any]) -> str:
    answer = installation.post("/api/v1/runs", spec)
    assert answer.status == 201, answer.text
    return str(answer.json()["id"])


def statuses(installation: Installation, run_id: str) -> list[str]:
    """Of the root, then of each branch."""
    tree = installation.get(f"/api/v1/runs/{run_id}/tree", role="viewer").json()
    return [row[8] for row in tree["rows"]]


def processes_with(words: str) -> list[str]:
    """Command lines of living processes that hold these words."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if words in line:
            found.append(line)
    return found
