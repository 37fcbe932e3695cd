"""How a command is fed, read and ended."""

import os
import resource
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from swarmui.adapters import sandbox
from swarmui.adapters.sandbox import Isolation, probe, run_argv
from swarmui.adapters.sandbox import probe as probing
from swarmui.adapters.sandbox.limits import OUTPUT_BYTES
from tests.swarmui.adapters.conftest import Marked, Run, open_descriptors
from tests.swarmui.adapters.controls import ScriptedControl
from tests.swarmui.adapters.test_sandbox_border import FORKS
from tests.waiting import wait_until
from verifier.lifecycle import StopReason

GONE_S = 1.0


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 3", 3), ("exit 127", 127), ("kill -9 $$", 137), ("kill -15 $$", 143)],
)
def test_the_exit_code_is_the_program_s(run: Run, script: str, code: int) -> None:
    result = run("sh", "-c", script)
    assert (result.exit_code, result.not_started, result.isolated) == (code, None, True)


def test_input_is_fed_and_both_streams_are_read(run: Run) -> None:
    script = "cat; head -c 1000000 /dev/zero >&2; echo end"
    result = run("sh", "-c", script, stdin=b"brief " * 100_000)
    assert result.stdout == b"brief " * 100_000 + b"end\n"
    assert result.stderr == b"\0" * 1_000_000
    assert result.bytes_seen == len(result.stdout) + len(result.stderr)
    assert not result.truncated


def test_input_that_nobody_reads_holds_nobody_up(run: Run) -> None:
    result = run("true", stdin=b"x" * 5_000_000)
    assert result.exit_code == 0


def test_a_program_that_closes_its_output_is_still_waited_for(run: Run) -> None:
    result = run("sh", "-c", "exec >&- 2>&-; sleep 0.3; exit 5")
    assert result.exit_code == 5
    assert result.duration_ms >= 300


def test_bytes_that_are_no_text_arrive(run: Run) -> None:
    result = run("printf", r"\000\377\033[31m")
    assert result.stdout == b"\0\xff\x1b[31m"


def test_fifty_megabytes_are_cut_and_counted(run: Run) -> None:
    result = run("head", "-c", "50000000", "/dev/zero")
    assert result.truncated
    assert result.exit_code is None
    assert len(result.stdout) == OUTPUT_BYTES
    assert OUTPUT_BYTES < result.bytes_seen < OUTPUT_BYTES + 200_000


def test_the_cap_counts_both_streams(run: Run) -> None:
    script = "head -c 6000 /dev/zero; head -c 6000 /dev/zero >&2; sleep 600"
    result = run("sh", "-c", script, output_cap=10_000)
    assert result.truncated
    assert len(result.stdout) + len(result.stderr) == 10_000


def test_an_endless_printer_does_not_grow_the_service(run: Run) -> None:
    run("yes", output_cap=100)  # whatever has to be loaded is loaded
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for argv in (["yes"], ["cat", "/dev/zero"]):
        assert run(*argv).truncated
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 64 * 1024


TREE = "setsid sleep {0} & (setsid sleep {0} &) ; nohup sleep {0} & sleep {0} & "


@pytest.mark.parametrize("isolation", [Isolation.SANDBOX, Isolation.HOST])
def test_the_whole_tree_ends_at_the_timeout(run: Run, marked: Marked, isolation: Isolation) -> None:
    script = TREE.format(marked.seconds) + "wait"
    result = run("sh", "-c", script, timeout_s=1.5, isolation=isolation)
    ended = time.monotonic()
    assert result.timed_out
    assert result.exit_code is None
    assert 1_500 <= result.duration_ms < 6_000
    wait_until(lambda: marked.alive() == [], timeout=GONE_S)
    assert time.monotonic() - ended < GONE_S


def test_nothing_is_left_when_a_program_ends_by_itself(run: Run, marked: Marked) -> None:
    result = run("sh", "-c", TREE.format(marked.seconds) + "exit 4")
    assert result.exit_code == 4
    assert marked.alive() == []  # already, when the result is there
    assert result.duration_ms < 5_000


def test_it_is_over_for_silent_ones_too_when_the_result_is_there(run: Run, marked: Marked) -> None:
    silent = f"for i in $(seq 40); do setsid sleep {marked.seconds} >/dev/null 2>&1 & done; exit 0"
    for _ in range(5):
        assert run("sh", "-c", silent).exit_code == 0
        assert marked.alive() == []


def test_a_group_outside_the_sandbox_ends_with_its_leader(run: Run, marked: Marked) -> None:
    script = f"sleep {marked.seconds} & exit 4"
    result = run("sh", "-c", script, isolation=Isolation.HOST)
    assert result.exit_code == 4
    wait_until(lambda: marked.alive() == [], timeout=GONE_S)


@pytest.mark.parametrize("isolation", [Isolation.SANDBOX, Isolation.HOST])
@pytest.mark.parametrize("reason", list(StopReason))
def test_an_order_to_stop_is_heard(
    run: Run, marked: Marked, isolation: Isolation, reason: StopReason
) -> None:
    control = ScriptedControl(reason, when=lambda: marked.alive() != [])
    result = run("sleep", marked.seconds, isolation=isolation, control=control)
    assert result.stop_reason is reason
    assert result.exit_code is None
    assert not result.timed_out
    assert result.duration_ms < 5_000
    wait_until(lambda: marked.alive() == [], timeout=GONE_S)


@pytest.mark.parametrize("isolation", [Isolation.SANDBOX, Isolation.HOST])
def test_what_has_to_stop_already_does_not_start(
    run: Run, workdir: Path, isolation: Isolation
) -> None:
    control = ScriptedControl(StopReason.CANCELLED)
    stopped = run("touch", "ran", isolation=isolation, control=control)
    assert stopped.stop_reason is StopReason.CANCELLED
    late = run("touch", "ran", isolation=isolation, timeout_s=0)
    assert late.timed_out
    assert list(workdir.iterdir()) == []


@pytest.mark.parametrize("milliseconds", [0.1, 1, 2, 4, 8, 16])
def test_a_program_may_be_ended_while_it_is_being_shut_in(
    run: Run, marked: Marked, milliseconds: float
) -> None:
    for _ in range(3):
        result = run("sleep", marked.seconds, timeout_s=milliseconds / 1000)
        assert result.timed_out
        assert result.duration_ms < 2_000
    assert marked.alive() == []


def test_a_running_program_shows_that_it_is_alive(run: Run) -> None:
    control = ScriptedControl()
    run("sleep", "2.5", control=control)
    assert control.notes == ["command running, 0 bytes written"]


def test_a_program_that_ignores_signals_ends_all_the_same(run: Run) -> None:
    script = "trap '' TERM INT HUP; while :; do sleep 0.1; done"
    assert run("sh", "-c", script, timeout_s=0.5).timed_out


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["nosuch"], "nosuch: No such file or directory"),
        (["./nosuch"], "No such file or directory"),
        (["/workspace"], "Permission denied"),
        ([], "the argument list is empty"),
        ([""], "a program name was expected"),
        (["echo", "a\0b"], "NUL character"),
        (["echo", "\ud800"], "not valid text"),
        (["echo"] * 65, "65 arguments, at most 64"),
        (["echo", "x" * 9_000], "at most 8,192 are taken"),
    ],
)
@pytest.mark.parametrize("isolation", [Isolation.SANDBOX, Isolation.HOST])
def test_what_cannot_start_says_why(
    run: Run, isolation: Isolation, argv: list[str], reason: str
) -> None:
    if argv == ["/workspace"] and isolation is Isolation.HOST:
        argv, reason = ["/usr"], "Permission denied"
    result = run(*argv, isolation=isolation)
    assert result.not_started is not None
    assert reason in result.not_started
    assert result.stdout == b""


def test_a_folder_that_is_gone_is_not_run_in(tmp_path: Path, run: Run) -> None:
    for isolation in Isolation:
        result = run_argv(["true"], workdir=tmp_path / "gone", timeout_s=5, isolation=isolation)
        assert result.not_started is not None


def test_many_run_at_once(run: Run) -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: run("sh", "-c", f"sleep 0.1; echo {n}"), range(24)))
    assert [int(result.stdout) for result in results] == list(range(24))


def test_one_worker_s_fork_bomb_does_not_stop_another(tmp_path: Path, run: Run) -> None:
    bomb, other = tmp_path / "bomb", tmp_path / "other"
    bomb.mkdir()
    other.mkdir()
    forks = f"{FORKS}\nopen('full', 'w').close()\nsignal.pause()"
    done = threading.Event()
    control = ScriptedControl(StopReason.CANCELLED, when=done.is_set)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(
            run_argv, ["python", "-c", forks], workdir=bomb, timeout_s=30, control=control
        )
        try:
            wait_until(lambda: (bomb / "full").exists())
            script = "for i in 1 2 3 4 5 6 7 8; do (sleep 0.1; echo $i) & done; wait"
            result = run_argv(["bash", "-c", script], workdir=other, timeout_s=30)
        finally:
            done.set()
        running.result(30)
    assert sorted(result.stdout.split()) == [b"%d" % n for n in range(1, 9)]
    assert result.stderr == b""


def test_no_descriptor_is_left_open(run: Run) -> None:
    run("true")
    before = open_descriptors()
    for argv in (["true"], ["nosuch"], ["yes"]):
        for isolation in Isolation:
            run(*argv, isolation=isolation)
    run("sleep", "9", timeout_s=0.2)
    assert open_descriptors() == before


# ------------------------------------------------------------------ outside the sandbox


def test_outside_the_sandbox_only_named_variables_are_seen(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "do not tell")
    result = run("env", isolation=Isolation.HOST, env={"NAMED": "yes"})
    names = {line.split("=", 1)[0] for line in result.stdout.decode().splitlines()}
    assert names <= {"PATH", "HOME", "LANG", "NAMED"}
    assert "NAMED" in names
    assert not result.isolated


def test_outside_the_sandbox_it_runs_in_its_workspace(run: Run, workdir: Path) -> None:
    assert run("pwd", isolation=Isolation.HOST).stdout.decode().strip() == str(workdir)


# ------------------------------------------------------------------ whether it holds


def test_the_probe_runs_a_program() -> None:
    found = probe()
    assert found.usable == (found.reason == "")
    assert found.usable == (found.profile != "")


@pytest.mark.parametrize(
    ("bubblewrap", "reason"),
    [("/bin/false", "exit 1"), ("/nonexistent/bwrap", "No such file"), ("/bin/true", "exit 0")],
)
def test_a_sandbox_that_does_not_hold_runs_nothing(
    workdir: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    bubblewrap: str,
    reason: str,
) -> None:
    request.addfinalizer(probing.cache_clear)
    probing.cache_clear()
    monkeypatch.setattr("swarmui.adapters.sandbox.profile.bubblewrap", lambda: bubblewrap)
    found = sandbox.probe()
    assert not found.usable
    assert reason in found.reason
    result = run_argv(["touch", "ran"], workdir=workdir, timeout_s=5)
    assert result.not_started is not None
    assert result.not_started.startswith("no sandbox on this machine: ")
    assert not os.listdir(workdir)  # noqa: PTH208
