"""`swarmui run` to its end, or to Ctrl-C, on a home where no server runs."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from swarmui.management.commands.run import left_words
from swarmui.models import Run
from tests.support.installation import Installation
from tests.support.sources import ROOT

UTC_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Installation]:
    """An embedded install of which nothing runs."""
    installation = Installation("embedded", tmp_path / "home", {})
    installation.home.mkdir()
    yield installation
    installation.end()


def spec_of(tmp_path: Path, *argv: str) -> str:
    path = tmp_path / "spec.yaml"
    worker = {"kind": "command", "argv": argv, "isolation": "host"}
    branch = {"role": "only", "task_brief": "do it", "worker": worker}
    path.write_text(json.dumps({"goal": "one program", "branches": [branch]}))
    return str(path)


def test_waiting_tells_the_reason_of_a_failure(home: Installation, tmp_path: Path) -> None:
    home.env["SWARMUI_ALLOW_NOT_ISOLATED"] = "true"
    spec = spec_of(tmp_path, "sh", "-c", "echo no such colour >&2; exit 3")
    done = home.cli("run", spec, "--wait")
    assert done.returncode == 1, done.stderr
    assert "exit 3: no such colour" in done.stdout
    assert done.stdout.splitlines()[-1] == "tool error"


def test_watching_without_a_terminal_begins_with_the_goal(
    home: Installation, tmp_path: Path
) -> None:
    home.env["SWARMUI_ALLOW_NOT_ISOLATED"] = "true"
    done = home.cli("run", spec_of(tmp_path, "true"), "--watch", "--json")
    assert done.stderr.splitlines()[0] == "one program"
    document = json.loads(done.stdout)
    assert UTC_TIME.fullmatch(document["created_at"])
    assert UTC_TIME.fullmatch(document["ended_at"])


def test_ctrl_c_says_what_becomes_of_the_run(home: Installation, tmp_path: Path) -> None:
    home.env["SWARMUI_ALLOW_NOT_ISOLATED"] = "true"
    process = subprocess.Popen(
        [sys.executable, "-m", "swarmui.cli", "run", spec_of(tmp_path, "sleep", "60"), "--watch"],
        env=home.env,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        run_id = process.stdout.readline().split()[-1]
        while "running" not in (line := process.stdout.readline()):
            assert line, "the command ended"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert f"run {run_id} is not over" in said
    assert "`swarmui up` takes it up again" in said
    assert "Traceback" not in said


def test_where_a_server_works_on_it_only_the_watching_ends() -> None:
    run = Run()
    assert f"The server goes on with run {run.pk}" in left_words(run, works_itself=False)
    assert "not over" not in left_words(run, works_itself=False)
