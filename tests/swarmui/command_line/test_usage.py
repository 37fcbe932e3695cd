"""What an operator mistypes is answered in lines, with exit code 2 and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.sources import ROOT

Said = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def swarmui(home: Path) -> Callable[..., Said]:
    def run(*arguments: str, **env: str) -> Said:
        return subprocess.run(
            [sys.executable, "-m", "swarmui.cli", *arguments],
            env={"PATH": os.environ["PATH"], "SWARMUI_HOME": str(home), **env},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "usage: swarmui COMMAND"),
        (("nonsense",), "there is no command 'nonsense'"),
        (("run",), "SPEC.yaml"),
        (("run", "no/such/file.yaml"), "no/such/file.yaml: No such file"),
        (("run", "."), "Is a directory"),
        (("run", "README.md", "--quickly"), "--quickly"),
        (("ledger",), "verify|replay"),
        (("ledger", "verify", "ffffffff"), "no run is called 'ffffffff'"),
        (("ledger", "verify", "not an id"), "no run is called 'not an id'"),
        (("ledger", "replay", "ffffffff", "--at", "soon"), "--at"),
        (("token", "create", "x"), "--role"),
        (("token", "create", "x", "--role", "reviewer"), "reviewer"),  # only people review
        (("token", "create", " ", "--role", "viewer"), "1 to 80 characters"),
        (("person",), "add"),
        (("person", "add", "ann"), "--role"),
        (("person", "add", "ann", "--role", "owner"), "owner"),
        (("person", "add", "two words", "--role", "viewer"), "name 'two words'"),
        (("sign_in_link", "nobody"), "there is no person called 'nobody'"),
        (("seed", "--nodes", "0"), "1 to 200,000"),
        (("seed", "--nodes", "many"), "--nodes"),
    ],
)
def test_wrong_usage_is_answered_in_a_line(
    swarmui: Callable[..., Said], arguments: tuple[str, ...], expected: str
) -> None:
    said = swarmui(*arguments)
    assert said.returncode == 2, said.stderr
    assert expected in said.stderr + said.stdout
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SWARMUI_ENV", "staging"),
        ("LOG_LEVEL", "LOUD"),
        ("SECRET_KEY", "short"),
    ],
)
def test_a_wrong_variable_is_named(swarmui: Callable[..., Said], variable: str, value: str) -> None:
    said = swarmui("seed", "--nodes", "1", **{variable: value})
    assert said.returncode == 2, said.stderr
    assert "Traceback" not in said.stderr
    assert variable in said.stderr or value in said.stderr


def test_each_problem_of_a_spec_has_its_line(swarmui: Callable[..., Said], tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "goal: x\nmood: good\nworkspace: {path: no/such/folder}\nbranches:\n"
        "  - {role: a, task_brief: b, worker: {kind: command, argv: []}}\n"
    )
    said = swarmui("run", str(spec))
    assert said.returncode == 2
    lines = said.stderr.strip().splitlines()
    assert all(": " in line for line in lines)
    assert {line.split(":")[0] for line in lines} >= {"mood", "branches[0].worker.argv"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"goal: [", "line"),
        (b"a: &a [x]\nb: *a\n", ""),  # aliases are refused or unknown keys, but never followed far
        (b"", "spec"),
    ],
)
def test_a_file_that_is_no_spec_is_said_to_be_none(
    swarmui: Callable[..., Said], tmp_path: Path, content: bytes, expected: str
) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_bytes(content)
    said = swarmui("run", str(spec))
    assert (said.returncode, "Traceback" in said.stderr) == (2, False), said.stderr
    assert expected in said.stderr


@pytest.mark.parametrize(
    "content",
    [
        b"goal: " + b"x" * 1_999_994,
        # Cut in the middle of a character, it is too large, and still UTF-8.
        b"goal:  x" + "é".encode() * 999_996,
    ],
)
def test_a_file_that_is_too_large_is_told_its_own_size(
    swarmui: Callable[..., Said], tmp_path: Path, content: bytes
) -> None:
    assert len(content) == 2_000_000
    spec = tmp_path / "spec.yaml"
    spec.write_bytes(content)
    said = swarmui("run", str(spec))
    assert said.returncode == 2
    assert "expected at most 1,000,000 bytes, got 2,000,000" in said.stderr


def test_help_is_not_an_error(swarmui: Callable[..., Said]) -> None:
    assert swarmui("--help").returncode == 0
    assert swarmui("run", "--help").returncode == 0


def test_an_unmigrated_database_that_is_not_the_embedded_one_is_left_alone(
    swarmui: Callable[..., Said], postgres_url: str
) -> None:
    said = swarmui("token", "create", "x", "--role", "viewer", DATABASE_URL=postgres_url)
    assert said.returncode == 2
    assert "run `swarmui migrate` first" in said.stderr


def test_a_database_that_does_not_answer_is_said_to_be_away(swarmui: Callable[..., Said]) -> None:
    away = "postgresql://postgres@127.0.0.1:1/none"
    said = swarmui("seed", "--nodes", "1", DATABASE_URL=away)
    assert said.returncode == 2
    assert "the database does not answer" in said.stderr
