"""The two examples are what they say: real flaw, real mending, real claim of work not done."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from swarmui.adapters.models.agent import ScriptKey, run_agent
from swarmui.adapters.models.recording_file import load_recording
from swarmui.adapters.tools.toolsets import build_tools
from swarmui.adapters.workspace import WorkspaceDir
from tests.fakes_models import Boundary, FakeControl, order
from verifier.mismatch import receipt_mismatch
from verifier.outcome import FailureKind, WorkerOutcome
from verifier.spec import CommandWorker, RunSpec, load_spec_text

ROOT = Path(__file__).resolve().parents[3]
NOTES = "recorded:examples/notes/model.yaml"
SELFCHECK = "recorded:examples/selfcheck.model.yaml"
DECEMBER = "from datetime import date; from notekeeper.dates import parse_due; " + (
    "print(parse_due('end of month', date(2025, 12, 5)))"
)


def _spec(path: str) -> RunSpec:
    return load_spec_text((ROOT / path).read_text(encoding="utf-8"))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A copy of the library, as a run makes it."""
    copy = tmp_path / "notes"
    shutil.copytree(ROOT / "examples/notes", copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def _play(
    folder: Path, branch: int, attempt: int = 1, replacement: int = 0, model: str = NOTES
) -> WorkerOutcome:
    spec = _spec("examples/notes/spec.yaml" if model == NOTES else "examples/selfcheck.yaml")
    named = spec.branches[branch]
    control = FakeControl()
    tools = build_tools(
        named.tools, WorkspaceDir(folder), control=control, allow_not_isolated=False
    )
    boundary = Boundary(tools)
    return run_agent(
        order(
            model,
            ROOT,
            role=named.role,
            key=ScriptKey(branch, named.role, named.topic, attempt, replacement),
        ),
        boundary.tools,
        boundary.executor,
        control,
    )


def _python(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("path", ["examples/notes/spec.yaml", "examples/selfcheck.yaml"])
def test_the_specs_are_valid(path: str) -> None:
    spec = _spec(path)
    assert all(len(branch.scorers) >= 1 for branch in spec.branches)


@pytest.mark.parametrize("path", ["examples/notes/model.yaml", "examples/selfcheck.model.yaml"])
def test_the_recordings_are_valid(path: str) -> None:
    assert load_recording(path, ROOT).family


def test_a_person_can_watch_the_whole_run() -> None:
    """The longest branch takes long enough to be seen and short enough to be waited for."""
    scripts = {s.name: s for s in load_recording("examples/notes/model.yaml", ROOT).scripts}
    seconds = [sum(turn.delay_ms for turn in script.turns) / 1000 for script in scripts.values()]
    assert 10 <= seconds[3] + seconds[4] <= 18
    assert max(seconds) <= 12


def test_the_first_release_notes_miss_the_body_and_the_second_have_it(notes: Path) -> None:
    first = _play(notes, 0)
    assert first.failure is None, first.error
    assert first.deliverable.output == {"title": "notekeeper 2.4"}
    second = _play(notes, 0, attempt=2)
    assert isinstance(second.deliverable.output, dict)
    assert set(second.deliverable.output) == {"title", "body"}
    assert (notes / "notes.md").read_text().startswith("# notekeeper 2.4")
    for outcome in (first, second):
        assert outcome.side_effects is not None
        assert (outcome.side_effects.filesChanged, outcome.side_effects.toolErrors) == (1, 0)


def test_the_documentation_that_was_never_written_is_seen(notes: Path) -> None:
    outcome = _play(notes, 1)
    assert outcome.failure is None, outcome.error
    assert outcome.side_effects is not None
    assert outcome.side_effects.toolCalls == 4
    assert (outcome.side_effects.filesChanged, outcome.side_effects.toolErrors) == (0, 0)
    assert not (notes / "docs").exists()
    said = receipt_mismatch(outcome.deliverable, outcome.side_effects, 0)
    assert said is not None


def test_the_crash_is_followed_by_the_real_mending(notes: Path) -> None:
    before = _python(notes, "-c", DECEMBER)
    assert "month must be in 1..12" in before.stderr
    assert _python(notes, "-m", "unittest").returncode == 0  # its tests do not see it

    crashed = _play(notes, 2)
    assert crashed.failure is FailureKind.TOOL_ERROR
    assert crashed.side_effects is not None
    assert (crashed.side_effects.toolCalls, crashed.side_effects.filesChanged) == (2, 0)

    mended = _play(notes, 2, replacement=1)
    assert mended.failure is None, mended.error
    assert mended.side_effects is not None
    assert mended.side_effects.filesChanged == 2
    assert _python(notes, "-c", DECEMBER).stdout.strip() == "2025-12-31"
    tests = _python(notes, "-m", "unittest", "-v", "tests.test_dates")
    assert tests.returncode == 0
    assert "test_end_of_december" in tests.stderr


def test_the_program_takes_its_brief_and_ends_well(notes: Path) -> None:
    branch = _spec("examples/notes/spec.yaml").branches[3]
    assert isinstance(branch.worker, CommandWorker)
    program, *arguments = branch.worker.argv
    assert program == "python"
    done = _python(notes, *arguments, stdin=branch.task_brief)
    assert done.returncode == 0, done.stderr
    assert "0 faults" in done.stdout
    assert done.stdout.startswith("task: Check that every sample note")


def test_the_researcher_reads_and_answers(notes: Path) -> None:
    outcome = _play(notes, 4)
    assert outcome.failure is None, outcome.error
    assert "notekeeper/cli.py" in str(outcome.deliverable.output)
    assert outcome.side_effects is not None
    assert (outcome.side_effects.toolCalls, outcome.side_effects.toolErrors) == (5, 0)


def test_an_answer_does_not_outlive_the_facts_it_rests_on(notes: Path) -> None:
    (notes / "notekeeper/cli.py").write_text('"""Rewritten."""\n')
    outcome = _play(notes, 4)
    assert outcome.failure is FailureKind.TOOL_ERROR
    assert "no longer fits" in (outcome.error or "")


def test_the_reader_of_the_selfcheck_finds_the_rule_in_this_repository() -> None:
    outcome = _play(ROOT, 2, model=SELFCHECK)
    assert outcome.failure is None, outcome.error
    assert "verifier/retry.py" in str(outcome.deliverable.output)
    assert outcome.side_effects is not None
    assert outcome.side_effects.filesChanged == 0
