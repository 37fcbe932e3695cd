"""A program as a worker."""

import os
from pathlib import Path

import pytest

from swarmui.adapters.command import NO_COUNTERS, CommandOrder, run_command_worker
from swarmui.adapters.sandbox import SandboxProbe
from tests.swarmui.adapters.conftest import Marked
from tests.swarmui.adapters.controls import ScriptedControl
from verifier.lifecycle import StopReason
from verifier.limits import ERROR_CHARS, OUTPUT_CHARS
from verifier.outcome import FailureKind, WorkerOutcome


def work(
    workdir: Path,
    *argv: str,
    brief: str = "",
    isolation: str = "sandbox",
    env: tuple[str, ...] = (),
    control: ScriptedControl | None = None,
    allow: bool = False,
) -> WorkerOutcome:
    order = CommandOrder(argv, isolation, env, brief, workdir, allow)
    return run_command_worker(order, control or ScriptedControl())


def test_the_brief_goes_in_and_the_deliverable_comes_out(workdir: Path) -> None:
    script = "echo to notes >&2; sed s/^/seen:/"
    outcome = work(workdir, "sh", "-c", script, brief="Write é.\n<b>now</b>")
    assert outcome.failure is None
    assert outcome.error is None
    assert outcome.deliverable.output == "seen:Write é.\nseen:<b>now</b>"
    assert outcome.deliverable.notes == "to notes\n"
    assert outcome.isolated is True


def test_what_it_did_is_unknown_and_never_zero(workdir: Path) -> None:
    outcome = work(workdir, "touch", "made")
    assert outcome.side_effects is None
    assert outcome.unavailable == (NO_COUNTERS,)
    assert outcome.tokens_used is None
    assert outcome.cost_micro_usd is None
    assert (workdir / "made").exists()


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (["sh", "-c", "echo why >&2; exit 3"], "exit 3: why"),
        (["sh", "-c", "echo only out; exit 1"], "exit 1: only out"),
        (["false"], "exit 1: no message"),
        (["nosuch"], "not started: nosuch: No such file or directory"),
        (["head", "-c", "50000000", "/dev/zero"], "it wrote more than 8 MiB"),
    ],
)
def test_a_failure_says_what_happened(workdir: Path, argv: list[str], error: str) -> None:
    outcome = work(workdir, *argv)
    assert outcome.failure is FailureKind.TOOL_ERROR
    assert outcome.error is not None
    assert error in outcome.error


def test_a_failure_keeps_what_was_delivered(workdir: Path) -> None:
    outcome = work(workdir, "sh", "-c", "echo half; exit 2")
    assert outcome.deliverable.output == "half\n"


def test_fifty_megabytes_are_stored_bounded_and_inert(workdir: Path) -> None:
    outcome = work(workdir, "sh", "-c", "head -c 50000000 /dev/zero | tr '\\0' x")
    output = outcome.deliverable.output
    assert isinstance(output, str)
    assert len(output) <= OUTPUT_CHARS
    assert "… [truncated" in output[-60:]


def test_bytes_that_no_database_holds_are_spelt_out(workdir: Path) -> None:
    outcome = work(workdir, "printf", r"a\000b\377\033[31m")
    assert outcome.deliverable.output == "a␀b\ufffd\x1b[31m"


def test_a_long_stack_trace_keeps_its_end(workdir: Path) -> None:
    script = "import sys; sys.stderr.write('x' * 90000 + 'the reason'); sys.exit(1)"
    outcome = work(workdir, "python", "-c", script)
    assert outcome.error is not None
    assert outcome.error.endswith("the reason")
    assert len(outcome.error) <= ERROR_CHARS
    assert outcome.deliverable.notes is not None
    assert outcome.deliverable.notes.startswith("… [88,010 characters before this are not shown]")


def test_it_ends_at_its_wall_clock(workdir: Path, marked: Marked) -> None:
    control = ScriptedControl(seconds=0.6)
    outcome = work(workdir, "sleep", marked.seconds, control=control)
    assert outcome.failure is FailureKind.TIMEOUT
    assert marked.alive() == []


@pytest.mark.parametrize(
    ("reason", "failure"),
    [
        (StopReason.CANCELLED, FailureKind.CANCELLED),
        (StopReason.LEASE_LOST, FailureKind.LEASE_LOST),
        (StopReason.TIMEOUT, FailureKind.TIMEOUT),
    ],
)
def test_it_ends_when_it_has_to(
    workdir: Path, marked: Marked, reason: StopReason, failure: FailureKind
) -> None:
    control = ScriptedControl(reason, when=lambda: marked.alive() != [])
    outcome = work(workdir, "sleep", marked.seconds, control=control)
    assert outcome.failure is failure
    assert marked.alive() == []


def test_on_the_host_it_sees_the_named_variables_only(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "for the agent")
    monkeypatch.setenv("OTHER_KEY", "not for the agent")
    outcome = work(workdir, "env", isolation="host", env=("AGENT_KEY", "NOT_SET"))
    output = str(outcome.deliverable.output)
    assert "AGENT_KEY=for the agent" in output
    assert "OTHER_KEY" not in output
    assert "NOT_SET" not in output
    assert outcome.isolated is False


@pytest.mark.parametrize("name", ["SWARMUI_SECRET_KEY", "DATABASE_URL", "DJANGO_SETTINGS_MODULE"])
@pytest.mark.parametrize("isolation", ["sandbox", "host"])
def test_the_service_s_own_variables_are_never_handed_on(
    workdir: Path, monkeypatch: pytest.MonkeyPatch, isolation: str, name: str
) -> None:
    monkeypatch.setenv(name, "a secret")
    outcome = work(workdir, "touch", "ran", isolation=isolation, env=(name,))
    assert outcome.failure is FailureKind.DENIED
    assert outcome.error == f"env: {name} belongs to the service and is never handed on"
    assert not (workdir / "ran").exists()


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    found = SandboxProbe(False, "", "none on this machine")
    for place in ("command", "sandbox.run"):
        monkeypatch.setattr(f"swarmui.adapters.{place}.probe", lambda: found)


@pytest.mark.usefixtures("no_sandbox")
def test_without_a_sandbox_it_does_not_run(workdir: Path) -> None:
    outcome = work(workdir, "touch", "ran")
    assert outcome.failure is FailureKind.DENIED
    assert outcome.error == "no sandbox on this machine: none on this machine"
    assert outcome.isolated is None
    assert not (workdir / "ran").exists()


@pytest.mark.usefixtures("no_sandbox")
def test_without_a_sandbox_an_admin_may_allow_it_and_it_shows(workdir: Path) -> None:
    outcome = work(workdir, "touch", "ran", allow=True)
    assert outcome.failure is None
    assert outcome.isolated is False
    assert (workdir / "ran").exists()


def test_a_brief_that_is_no_text_is_given_all_the_same(workdir: Path) -> None:
    assert work(workdir, "cat", brief="a\ud800b").deliverable.output == r"a\ud800b"
    assert os.environ.get("SWARMUI_SECRET_KEY") is None
