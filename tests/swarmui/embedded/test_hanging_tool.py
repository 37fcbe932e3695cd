"""A tool that never returns does not keep the process."""

from __future__ import annotations

import signal
import sys
import time

import pytest

from tests.support.installation import Installation
from tests.support.processes import Program
from tests.support.sources import ROOT
from tests.swarmui.embedded.specs import programs
from tests.swarmui.embedded.test_restart import start, statuses
from tests.waiting import wait_until

# The server, with a worker that heeds nothing in place of the one that runs programs.
DEAF = """
import sys, threading
from swarmui.adapters import command
command.run_command_worker = lambda order, control: threading.Event().wait()
from swarmui.cli import main
main(["up", "--port", sys.argv[1]])
"""


@pytest.fixture
def deaf(embedded: Installation) -> Program:
    """The server at work, in a tool that will not return."""
    embedded["server"].stop()
    argv = [sys.executable, "-c", DEAF, str(embedded.port)]
    deaf = Program("server", argv, embedded.env, ROOT, embedded.home / "logs" / "deaf.log")
    embedded._programs["server"] = deaf
    embedded.start()
    run_id = start(embedded, programs(["true"]))
    wait_until(lambda: "running" in statuses(embedded, run_id), 20)
    return deaf


def test_a_worker_that_heeds_nothing_is_left_behind(deaf: Program) -> None:
    begun = time.monotonic()
    deaf.signal(signal.SIGTERM)
    wait_until(lambda: not deaf.is_running, 15, what="the process to end")
    assert time.monotonic() - begun < 9
    assert deaf.exit_code == 0
    assert "a worker did not stop in time" in deaf.log()


def test_a_second_signal_does_not_wait_for_it(deaf: Program) -> None:
    deaf.signal(signal.SIGINT)
    begun = time.monotonic()
    wait_until(lambda: has_ended_after_another(deaf), 10, interval=0.2)
    assert time.monotonic() - begun < 4


def has_ended_after_another(program: Program) -> bool:
    if program.is_running:
        program.signal(signal.SIGINT)
    return not program.is_running
