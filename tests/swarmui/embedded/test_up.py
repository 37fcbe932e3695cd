"""What `swarmui up` prints, what it leaves on disk, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from swarmui.management.commands.up import reach_note
from tests.support.http import request
from tests.support.installation import Installation, embedded_installation
from tests.waiting import wait_until

LINK = re.compile(r"^Sign in, once and within 15 minutes: (http://\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """One server for all tests of this file: none of them changes it."""
    with embedded_installation(tmp_path_factory.mktemp("up") / "home") as installation:
        wait_until(lambda: "Ctrl-C stops it all" in installation["server"].log())
        yield installation


def test_the_first_start_says_where_it_is_how_to_get_in_and_what_runs(up: Installation) -> None:
    log = up["server"].log()
    lines = log.splitlines()
    assert lines[0] == f"Serving at {up.base_url}"
    link = LINK.search(log)
    assert link is not None
    assert request("GET", link[1]).status == 200
    assert "A demo run has started: it is the first row of the first page." in lines
    assert [line for line in lines if "warning" in line.lower() or "Traceback" in line] == []


def test_what_it_keeps_is_closed_to_others(up: Installation) -> None:
    modes = {
        name: (up.home / name).stat().st_mode & 0o777 for name in (".", "secret_key", "server.lock")
    }
    assert modes == {".": 0o700, "secret_key": 0o600, "server.lock": 0o600}


def test_a_second_server_on_the_same_home_is_refused_with_a_reason(up: Installation) -> None:
    second = up.cli("up", "--port", "0", timeout=30)
    assert second.returncode == 1
    assert f"in use by process {up['server'].pid}" in second.stderr
    assert "Traceback" not in second.stderr
    assert up.get("/readyz").status == 200


def test_a_port_in_use_is_refused_with_a_reason(up: Installation, tmp_path: Path) -> None:
    env = {"SWARMUI_HOME": str(tmp_path / "other")}
    second = up.cli("up", "--port", str(up.port), timeout=30, env=env)
    assert second.returncode == 1
    assert f"port {up.port}: Address already in use" in second.stderr
    assert "Traceback" not in second.stderr
    # Nothing was begun: the settings alone have made the home and its key.
    assert {path.name for path in (tmp_path / "other").iterdir()} <= {"secret_key"}


def test_where_home_and_port_are_taken_it_is_the_home_that_is_named(up: Installation) -> None:
    second = up.cli("up", "--port", str(up.port), timeout=30)
    assert second.returncode == 1
    assert f"in use by process {up['server'].pid}" in second.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--port", "70000"), 2, "port"),
        (("--port", "http"), 2, "port"),
        (("--host", "192.0.2.1"), 1, "cannot listen on 192.0.2.1"),  # no address of this machine
        (("--host", "no such host"), 1, "cannot listen on no such host"),
    ],
)
def test_an_address_that_is_none_is_a_line_and_not_a_traceback(
    up: Installation, tmp_path: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    env = {"SWARMUI_HOME": str(tmp_path / "other")}
    done = up.cli("up", *arguments, timeout=30, env=env)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert says in done.stderr


def test_with_a_broker_configured_it_says_that_it_is_the_wrong_command(
    up: Installation, tmp_path: Path
) -> None:
    env = {"SWARMUI_HOME": str(tmp_path / "other"), "REDIS_URL": "redis://127.0.0.1:1/0"}
    done = up.cli("up", timeout=30, env=env)
    assert done.returncode == 2
    assert "REDIS_URL is set" in done.stderr


OWN_NAMES = ["127.0.0.1", "localhost", "[::1]"]


@pytest.mark.parametrize(
    ("host", "allowed", "says"),
    [
        ("0.0.0.0", OWN_NAMES, "answers to 127.0.0.1, localhost, [::1] alone"),
        ("::", ["localhost"], "answers to localhost alone"),
        ("0.0.0.0", ["swarm.example.com"], "under these names: swarm.example.com"),
        ("0.0.0.0", ["*"], "under these names: *"),
        ("192.0.2.7", OWN_NAMES, "set ALLOWED_HOSTS=192.0.2.7"),
        ("2001:db8::7", OWN_NAMES, "set ALLOWED_HOSTS=[2001:db8::7]"),
        ("192.0.2.7", ["192.0.2.7"], "under these names: 192.0.2.7"),
    ],
)
def test_who_can_reach_it_is_told_as_it_is(host: str, allowed: list[str], says: str) -> None:
    note = reach_note(host, allowed)
    assert note is not None
    assert says in note
    can_reach = not set(allowed) <= set(OWN_NAMES)
    assert note.startswith("Others on the network can reach it") is can_reach


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_a_server_for_this_machine_alone_says_nothing_of_others(host: str) -> None:
    assert reach_note(host, OWN_NAMES) is None
