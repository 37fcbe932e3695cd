"""Work at the command line on a home where no server runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.installation import Installation
from tests.swarmui.embedded.specs import programs


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Installation]:
    """An embedded install of which nothing runs."""
    installation = Installation("embedded", tmp_path / "home", {})
    (tmp_path / "home").mkdir()
    yield installation
    installation.end()


def run_to_its_end(home: Installation, tmp_path: Path, name: str) -> dict[str, object]:
    spec = tmp_path / f"{name}.yaml"
    spec.write_text(json.dumps(programs(["echo", name], ["cat"])))
    done = home.cli("run", str(spec), "--wait", "--json")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    document: dict[str, object] = json.loads(done.stdout)
    return document


def test_a_run_is_worked_off_by_the_command_itself(home: Installation, tmp_path: Path) -> None:
    assert run_to_its_end(home, tmp_path, "alone")["status"] == "ok"


def test_two_commands_at_once_share_a_home(home: Installation, tmp_path: Path) -> None:
    run_to_its_end(home, tmp_path, "first")  # makes the database
    with ThreadPoolExecutor(2) as pool:
        names = ["left", "right"]
        documents = list(pool.map(lambda name: run_to_its_end(home, tmp_path, name), names))
    assert [document["status"] for document in documents] == ["ok", "ok"]
