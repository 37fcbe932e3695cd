"""What a command can see, reach and use from inside."""

import os
import sys
from pathlib import Path

import pytest

from swarmui.adapters.sandbox import limits
from tests.swarmui.adapters.conftest import Run

KNOWN_NAMES = {"HOME", "LANG", "PATH", "PWD", "PYTHONDONTWRITEBYTECODE"}


def lines(run: Run, *argv: str) -> list[str]:
    result = run(*argv)
    assert result.not_started is None
    return result.stdout.decode().splitlines()


def test_it_is_nobody_with_no_rights(run: Run) -> None:
    status = dict(
        line.split(":\t", 1) for line in lines(run, "cat", "/proc/self/status") if ":\t" in line
    )
    assert "0" not in status["Uid"].split()
    assert "0" not in status["Gid"].split()
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {
        "0" * 16
    }
    assert status["NoNewPrivs"] == "1"


def test_it_sees_a_few_known_variables(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "do not tell")
    names = {line.split("=", 1)[0] for line in lines(run, "env")}
    assert names <= KNOWN_NAMES
    assert len(names) <= 6


def test_what_is_handed_on_is_added(run: Run) -> None:
    result = run("env", env={"NODE_ENV": "test"})
    assert b"NODE_ENV=test" in result.stdout


@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow",
        "/etc/hostname",
        str(Path.home() / ".bashrc"),
        "/proc/1/environ",
        "/proc/1/root/etc/passwd",
        "/proc/kcore",
        "/sys/kernel",
        "/var/log",
        "/home",
        str(Path.home() / ".ssh"),
        str(Path(__file__)),
        str(Path.cwd() / "pyproject.toml"),
    ],
)
def test_it_cannot_read_this_machine(run: Run, path: str) -> None:
    assert run("python", "-c", f"open({path!r}).read()").exit_code == 1
    assert run("ls", path).exit_code != 0 or run("cat", path).exit_code != 0


def test_it_knows_no_account_of_this_machine(run: Run) -> None:
    accounts = lines(run, "cat", "/etc/passwd")
    assert len(accounts) == 1
    assert accounts[0].startswith("worker:")


def test_it_sees_only_its_own_processes(run: Run) -> None:
    pids = [name for name in lines(run, "ls", "/proc") if name.isdigit()]
    assert len(pids) <= 4
    assert str(os.getpid()) not in pids or os.getpid() <= 4


@pytest.mark.parametrize("port", [5432, 6379, 80])
def test_it_has_no_network(run: Run, port: int) -> None:
    script = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
    result = run("python", "-c", script)
    assert result.exit_code == 1
    assert b"Error" in result.stderr
    outside = "import socket; socket.create_connection(('192.0.2.1', 443), 2)"
    assert run("python", "-c", outside).exit_code == 1
    assert lines(run, "ls", "/sys/class/net") == []


def test_it_runs_the_programs_of_the_running_python(run: Run) -> None:
    shown = lines(run, "python", "-c", "import sys, pytest; print(sys.prefix)")
    assert shown == [sys.prefix]
    assert lines(run, "ruff", "--version")[0].startswith("ruff ")


@pytest.mark.parametrize(
    "place", ["/", "/usr", "/etc", "/dev", "/bin", "/proc/sys/kernel", sys.prefix, sys.base_prefix]
)
def test_it_writes_nowhere_but_in_its_workspace(run: Run, place: str) -> None:
    assert run("touch", f"{place}/made").exit_code == 1
    assert not Path(place, "made").exists()


def test_its_workspace_is_read_and_written(run: Run, workdir: Path) -> None:
    (workdir / "given").write_text("from the service")
    (workdir / "folder").mkdir(mode=0o700)
    script = "cat given; pwd; echo made > folder/made; echo more >> given; ln -s given link"
    result = run("sh", "-c", script)
    assert result.stdout == b"from the service/workspace\n"
    assert result.stderr == b""
    assert (workdir / "folder" / "made").read_text() == "made\n"
    assert (workdir / "given").read_text() == "from the servicemore\n"


def test_python_leaves_no_byte_code_in_the_workspace(run: Run, workdir: Path) -> None:
    (workdir / "module.py").write_text("x = 1\n")
    assert run("python", "-c", "import module").exit_code == 0
    assert [path.name for path in workdir.iterdir()] == ["module.py"]


# ------------------------------------------------------------------ how much it may use

FORKS = """
import os, signal
made = 0
try:
    while made < 2000:
        if os.fork() == 0:
            signal.pause()
        made += 1
except OSError:
    pass
print(made)
"""


def test_it_cannot_have_more_processes_than_allowed(run: Run) -> None:
    made = int(lines(run, "python", "-c", FORKS)[0])
    allowed = limits.resource_limits(1)["nproc"]
    assert allowed == max(64, 4 * (os.cpu_count() or 1))
    assert 0 < made < allowed


def test_its_memory_ends(run: Run) -> None:
    script = "b = bytearray(2 << 30)"
    result = run("python", "-c", script)
    assert result.exit_code == 1
    assert b"MemoryError" in result.stderr
    assert run("python", "-c", "b = bytearray(200 << 20)").exit_code == 0


def test_a_file_has_a_largest_size(run: Run, workdir: Path) -> None:
    result = run("sh", "-c", "trap '' XFSZ; head -c 70000000 /dev/zero > big")
    assert result.exit_code == 1
    assert (workdir / "big").stat().st_size == limits.FILE_BYTES


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_what_lies_in_memory_has_a_largest_size(run: Run, place: str) -> None:
    script = f"head -c 50000000 /dev/zero > {place}/a && head -c 50000000 /dev/zero > {place}/b"
    result = run("sh", "-c", script)
    assert result.exit_code == 1
    assert b"No space left" in result.stderr


def test_the_processor_time_is_bounded_behind_the_wall_clock(run: Run) -> None:
    shown = lines(run, "sh", "-c", "ulimit -t")
    assert int(shown[0]) == 20 * (os.cpu_count() or 1) + limits.CPU_GRACE_S


def test_a_javascript_engine_starts(run: Run) -> None:
    result = run("node", "-e", "console.log(6 * 7)")
    if result.not_started is not None:
        pytest.skip("node is not installed")
    if b"openssl.cnf" in result.stderr:
        pytest.fail(result.stderr.decode())
    assert result.stdout == b"42\n"


# ------------------------------------------------------------------ what tries to get out

CANARY = "touch {canary}"
ATTEMPTS: list[list[str]] = [
    ["sh", "-c", CANARY],
    ["/usr/bin/../bin/sh", "-c", CANARY],
    ["./evil.sh"],
    ["./shell", "-c", CANARY],  # a copied shell
    ["env", "-S", CANARY],
    ["setsid", "-w", "sh", "-c", CANARY],
    ["unshare", "-r", "sh", "-c", CANARY],
    ["unshare", "-rm", "sh", "-c", f"mount --bind / / ; {CANARY}"],
    ["setpriv", "--reuid", "0", "sh", "-c", CANARY],
    ["chroot", "/proc/1/root", "sh", "-c", CANARY],
    ["nsenter", "-t", "1", "-a", "sh", "-c", CANARY],
    ["su", "-c", CANARY],
    ["find", ".", "-maxdepth", "0", "-exec", "sh", "-c", CANARY, ";"],
    ["xargs", "-a", "evil.sh", "-I{}", "sh", "-c", CANARY],
    ["awk", 'BEGIN{system("' + CANARY + '")}'],
    ["sed", "1e " + CANARY, "evil.sh"],
    ["tar", "cf", "/dev/null", "evil.sh", "--checkpoint=1", "--checkpoint-action=exec=" + CANARY],
    ["git", "-c", "alias.z=!" + CANARY, "z"],
    ["make", "--eval=$(shell " + CANARY + ")"],
    ["python", "-c", "import os; os.system('" + CANARY + "')"],
    ["python", "-c", "import os; os.chroot('/proc/1/root'); os.system('" + CANARY + "')"],
    ["perl", "-e", "system('" + CANARY + "')"],
    ["/lib64/ld-linux-x86-64.so.2", "/bin/sh", "-c", CANARY],
    ["cp", "evil.sh", "{canary}"],
    ["ln", "-s", "{canary}", "out"],
    ["sh", "-c", "ln -s {folder} out; touch out/canary"],
    ["dd", "if=evil.sh", "of={canary}"],
    ["mount", "-o", "remount,rw", "/"],
    ["sh", "-c", "kill -9 -1; " + CANARY],
]


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda argv: " ".join(argv)[:40])
def test_nothing_gets_out(run: Run, workdir: Path, tmp_path: Path, attempt: list[str]) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    outside.chmod(0o777)
    canary = outside / "canary"
    (workdir / "evil.sh").write_text(f"#!/bin/sh\ntouch {canary}\n")
    (workdir / "evil.sh").chmod(0o755)
    (workdir / "shell").write_bytes(Path("/bin/sh").read_bytes())
    (workdir / "shell").chmod(0o755)
    argv = [word.replace("{canary}", str(canary)) for word in attempt]
    run(*[word.replace("{folder}", str(outside)) for word in argv])
    assert not canary.exists()


def test_a_repository_used_in_place_keeps_its_hooks_and_configuration(
    run: Run, workdir: Path
) -> None:
    (workdir / ".git" / "hooks").mkdir(parents=True)
    (workdir / ".git" / "config").write_text("[core]\n")
    script = "touch .git/hooks/post-checkout; echo x >> .git/config; mv .git gone; touch work"
    run("sh", "-c", script)
    assert (workdir / "work").exists()
    assert (workdir / ".git" / "config").read_text() == "[core]\n"
    assert list((workdir / ".git" / "hooks").iterdir()) == []
