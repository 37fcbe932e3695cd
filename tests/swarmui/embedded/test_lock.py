"""One server per home."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from swarmui.embedded.lock import HomeInUse, hold_home, server_of
from tests.support.sources import ROOT

HOLD = """
import sys, time
from pathlib import Path
import django
django.setup()
from swarmui.embedded.lock import hold_home
with hold_home(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the home."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_free_home_has_no_server(tmp_path: Path) -> None:
    assert server_of(tmp_path) is None
    assert server_of(tmp_path / "not there") is None


def test_a_second_server_on_a_home_is_told_who_holds_it(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    assert server_of(tmp_path) == f"process {holder.pid}"
    with pytest.raises(HomeInUse, match=f"in use by process {holder.pid}"), hold_home(tmp_path):
        raise AssertionError("two servers hold one home")


def test_a_killed_server_leaves_its_home_free(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert server_of(tmp_path) is None
    with hold_home(tmp_path):
        assert server_of(tmp_path) == f"process {os.getpid()}"
    assert server_of(tmp_path) is None


def test_looking_who_holds_a_home_takes_nothing(tmp_path: Path) -> None:
    with hold_home(tmp_path):
        pass
    assert server_of(tmp_path) is None
    with hold_home(tmp_path):
        pass


def test_a_home_that_is_made_is_closed_to_others(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with hold_home(home):
        assert home.stat().st_mode & 0o777 == 0o700
        assert (home / "server.lock").stat().st_mode & 0o777 == 0o600
