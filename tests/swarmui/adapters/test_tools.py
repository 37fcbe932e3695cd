"""The tools, called as a worker calls them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from swarmui.adapters.sandbox import SandboxProbe
from swarmui.adapters.tools import build_tools, commands_isolated
from swarmui.adapters.tools.patterns import Glob
from swarmui.adapters.workspace import WorkspaceDir
from tests.swarmui.adapters.conftest import Marked, open_descriptors
from tests.swarmui.adapters.controls import ScriptedControl
from verifier.boundary.executor import Observation, ToolExecutor
from verifier.boundary.tool_adapter import ToolFailure
from verifier.boundary.trajectory import TrajectoryEntry
from verifier.lifecycle import StopReason
from verifier.receipt import COMMAND_TOOLS, FILE_CHANGE_TOOLS, ToolCounters


class Clock:
    def monotonic_ms(self) -> int:
        return 0


class Worker:
    """A worker's hands: the tools on its workspace, with what was counted."""

    def __init__(self, root: Path, control: ScriptedControl | None = None) -> None:
        self.root = root
        self.counters = ToolCounters()
        self.entries: list[TrajectoryEntry] = []
        self.tools = build_tools(
            ["filesystem", "shell"],
            WorkspaceDir(root),
            control=control or ScriptedControl(),
            allow_not_isolated=False,
        )
        self._executor = ToolExecutor(self.tools, self.entries.append, self.counters, Clock())

    def call(self, name: str, **arguments: Any) -> Observation:
        full = name if "__" in name else f"filesystem__{name}"
        return self._executor.call(full, arguments)

    def answer(self, name: str, **arguments: Any) -> Any:
        seen = self.call(name, **arguments)
        assert seen.kind == "result", seen.content
        try:
            return json.loads(seen.content)
        except ValueError:
            return seen.content


@pytest.fixture
def worker(workdir: Path) -> Worker:
    (workdir / "src").mkdir()
    (workdir / "src" / "a.py").write_text("import os\n\ndef find_all():\n    return os\n")
    (workdir / "src" / "b.py").write_text("# Find me\n")
    (workdir / "README.md").write_text("# Notes\n")
    (workdir / "image").write_bytes(b"\x89PNG\0\0find")
    (workdir / "out").symlink_to("/etc/passwd")
    (workdir / ".git").mkdir()
    (workdir / ".git" / "config").write_text("find")
    os.mkfifo(workdir / "fifo")
    return Worker(workdir)


def test_the_sets_are_what_receipts_count(worker: Worker) -> None:
    names = {tool.name for tool in worker.tools}
    assert names == {
        "filesystem__read_file",
        "filesystem__list_dir",
        "filesystem__glob",
        "filesystem__grep",
        "filesystem__write_file",
        "filesystem__append_file",
        "filesystem__mkdir",
        "shell__run",
    }
    assert names & FILE_CHANGE_TOOLS == {
        "filesystem__write_file",
        "filesystem__append_file",
        "filesystem__mkdir",
    }
    assert names & COMMAND_TOOLS == {"shell__run"}
    assert all(tool.description and tool.schema["type"] == "object" for tool in worker.tools)


def test_a_file_is_read(worker: Worker) -> None:
    assert worker.answer("read_file", path="README.md") == "# Notes\n"


def test_a_long_file_is_read_in_parts_that_fit_together(worker: Worker) -> None:
    text = "é€𝄞x" * 30_000  # a part may end within a character
    (worker.root / "long").write_text(text)
    read, offset = "", 0
    while True:
        part = worker.answer("read_file", path="long", offset=offset, max_bytes=50_001)
        if "\n… [" not in part:
            break
        content, note = part.split("\n… [")
        read += content
        offset = int(note.rstrip("]").split("offset=")[1])
    assert read + part == text


@pytest.mark.parametrize(
    ("path", "kind", "content"),
    [
        ("missing", "error", "missing: No such file"),
        ("src", "error", "not a regular file"),
        ("fifo", "error", "not a regular file"),
        ("image", "error", "not a text file"),
        ("", "error", "a path was expected"),
        ("out", "denied", "symbolic links are not followed"),
        ("../closed", "denied", "'..' is not allowed"),
        ("/etc/passwd", "denied", "an absolute path"),
        ("a\0b", "denied", "NUL character"),
        (".git/config", "denied", "belongs to the repository's owner"),
        ("\x1b[31m\u202e", "error", "␛[31m⟦U+202E⟧: No such file"),
    ],
)
@pytest.mark.parametrize("name", ["read_file", "list_dir", "glob", "grep"])
def test_a_path_that_does_not_work_out_is_told(
    worker: Worker, name: str, path: str, kind: str, content: str
) -> None:
    extra = {"glob": {"pattern": "*"}, "grep": {"text": "find"}}.get(name, {})
    seen = worker.call(name, path=path, **extra)
    if name != "read_file" and kind == "error":
        if path == "src":
            assert seen.kind == "result"
            return
        content = {"fifo": "Not a directory", "image": "Not a directory"}.get(path, content)
    assert seen.kind == kind, seen.content
    assert content in seen.content
    assert worker.counters.snapshot().toolCalls == 0


@pytest.mark.parametrize("name", ["write_file", "append_file", "mkdir"])
@pytest.mark.parametrize(
    "path", ["out", "out/x", "../x", "/tmp/x", "a\0b", ".git/hooks/x", "fifo", "fifo/x", ""]
)
def test_nothing_is_changed_through_a_hostile_path(worker: Worker, name: str, path: str) -> None:
    before = sorted(str(found) for found in worker.root.rglob("*"))
    extra = {} if name == "mkdir" else {"content": "x"}
    assert worker.call(name, path=path, **extra).kind in ("error", "denied")
    assert sorted(str(found) for found in worker.root.rglob("*")) == before
    assert worker.counters.snapshot().filesChanged == 0


def test_files_are_written_appended_and_counted(worker: Worker) -> None:
    worker.answer("write_file", path="docs/new.md", content="long content")
    worker.answer("write_file", path="docs/new.md", content="é")
    assert worker.answer("append_file", path="docs/new.md", content="+") == {
        "path": "docs/new.md",
        "bytes": 3,
    }
    worker.answer("mkdir", path="empty/folder")
    assert worker.call("mkdir", path="empty/folder").content == (
        "empty/folder: the folder exists already"
    )
    assert (worker.root / "docs" / "new.md").read_text() == "é+"
    counted = worker.counters.snapshot()
    assert (counted.filesChanged, counted.toolErrors) == (4, 1)


def test_a_file_with_a_second_name_is_not_written(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("precious")
    (worker.root / "linked").hardlink_to(tmp_path / "elsewhere")
    for name in ("write_file", "append_file"):
        assert worker.call(name, path="linked", content="x").kind == "error"
    assert worker.call("read_file", path="linked").kind == "error"
    assert (tmp_path / "elsewhere").read_text() == "precious"


@pytest.mark.parametrize(
    ("content", "message"),
    [("x" * 1_000_001, "at most 1,000,000"), ("\ud800", "lone surrogate")],
)
def test_content_that_is_not_written_says_why(worker: Worker, content: str, message: str) -> None:
    seen = worker.call("write_file", path="new", content=content)
    assert seen.kind == "error"
    assert message in seen.content
    assert not (worker.root / "new").exists()


def test_a_folder_is_listed(worker: Worker) -> None:
    answer = worker.answer("list_dir")
    assert answer["complete"]
    assert {entry["name"]: entry["kind"] for entry in answer["entries"]} == {
        "README.md": "file",
        "fifo": "other",
        "image": "file",
        "out": "link",
        "src": "dir",
    }


@pytest.mark.parametrize(
    ("pattern", "path", "files"),
    [
        ("*.md", ".", ["README.md"]),
        ("**/*.py", ".", ["src/a.py", "src/b.py"]),
        ("src/*", ".", ["src/a.py", "src/b.py"]),
        ("*.py", "src", ["src/a.py", "src/b.py"]),
        ("[ab].py", "./src/", ["src/a.py", "src/b.py"]),
        ("**", ".", ["README.md", "image", "src/a.py", "src/b.py"]),
        ("?.PY", "src", []),
        ("out", ".", []),
        ("**/config", ".", []),
    ],
)
def test_files_are_found_by_name(worker: Worker, pattern: str, path: str, files: list[str]) -> None:
    answer = worker.answer("glob", pattern=pattern, path=path)
    assert answer == {"files": files, "complete": True}


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**/*.py", "x.py", True),
        ("**/*.py", "a/b/x.py", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "a/x/y/c", False),
        ("a*b", "a/b", False),
        ("**/**/**/x", "x", True),
        ("*", "", True),
    ],
)
def test_a_pattern_means_what_it_says(pattern: str, path: str, matches: bool) -> None:
    assert Glob(pattern).matches(path) is matches


def test_no_pattern_hangs() -> None:
    assert not Glob("*a" * 200 + "b").matches("a" * 5_000)
    assert not Glob("/".join(["**", "a"] * 15) + "/b").matches("/".join("a" * 60))
    for pattern in ("", "/", "x" * 501, "a/" * 33):
        with pytest.raises(ToolFailure):
            Glob(pattern)


def test_lines_are_found_by_their_text(worker: Worker) -> None:
    answer = worker.answer("grep", text="find")
    assert answer["matches"] == [{"path": "src/a.py", "line": 3, "text": "def find_all():"}]
    assert answer["complete"]
    folded = worker.answer("grep", text="FIND", ignore_case=True, path="src", files="b.*")
    assert folded["matches"] == [{"path": "src/b.py", "line": 1, "text": "# Find me"}]
    assert worker.answer("grep", text=".*")["matches"] == []  # literal, no pattern


def test_a_search_that_saw_not_all_says_so(worker: Worker) -> None:
    (worker.root / "many").write_text("needle\n" * 300)
    answer = worker.answer("grep", text="needle")
    assert len(answer["matches"]) == 200
    assert not answer["complete"]
    (worker.root / "many").write_text("x" * 5_000_000 + "needle")  # one long line
    assert worker.answer("grep", text="needle") == {"matches": [], "complete": False}
    (worker.root / "folder").mkdir()
    for number in range(1_200):
        (worker.root / "folder" / str(number)).touch()
    answer = worker.answer("glob", pattern="*", path="folder")
    assert (len(answer["files"]), answer["complete"]) == (1_000, False)
    answer = worker.answer("list_dir", path="folder")
    assert (len(answer["entries"]), answer["complete"]) == (1_000, False)


def test_no_tool_leaves_a_descriptor_open(worker: Worker) -> None:
    before = open_descriptors()
    for path in ("src", "README.md", "out", "fifo", "missing", "../x"):
        worker.call("read_file", path=path)
        worker.call("list_dir", path=path)
        worker.call("glob", pattern="**", path=path)
        worker.call("grep", text="x", path=path)
        worker.call("append_file", path=path, content="x")
        worker.call("mkdir", path=path)
    assert open_descriptors() == before


# ------------------------------------------------------------------ running programs


def test_a_program_s_end_is_a_result_whatever_its_code(worker: Worker) -> None:
    answer = worker.answer("shell__run", argv=["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert answer == {
        "exit_code": 3,
        "timed_out": False,
        "truncated": False,
        "bytes_seen": 8,
        "stdout": "out\n",
        "stderr": "err\n",
    }
    assert worker.counters.snapshot().commandsRun == 1


def test_what_the_tools_write_a_program_can_change_and_the_other_way_round(
    worker: Worker,
) -> None:
    worker.answer("write_file", path="made/by_tool", content="1")
    worker.answer("shell__run", argv=["sh", "-c", "echo 2 >> made/by_tool; echo 3 > by_program"])
    assert worker.call("read_file", path="made/by_tool").content == "12\n"
    assert (worker.root / "made" / "by_tool").read_text() == "12\n"
    worker.answer("append_file", path="by_program", content="4")
    assert (worker.root / "by_program").read_text() == "3\n4"


def test_a_program_without_an_end_is_ended(worker: Worker, marked: Marked) -> None:
    answer = worker.answer("shell__run", argv=["sleep", marked.seconds], timeout_s=1)
    assert answer["timed_out"]
    assert answer["exit_code"] is None
    assert marked.alive() == []


def test_long_output_keeps_its_end(worker: Worker) -> None:
    script = "head -c 3000000 /dev/zero | tr '\\0' x; echo the end"
    answer = worker.answer("shell__run", argv=["sh", "-c", script])
    assert answer["stdout"].endswith("the end\n")
    assert answer["stdout"].startswith("… [")
    assert answer["bytes_seen"] == 3_000_008
    assert worker.answer("shell__run", argv=["yes"])["truncated"]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"argv": "ls -la"}, "invalid"),  # no string is ever given to a shell
        ({"argv": []}, "invalid"),
        ({"argv": ["ls", 1]}, "invalid"),
        ({"argv": ["true"] * 65}, "invalid"),
        ({"argv": ["true"], "timeout_s": 0}, "invalid"),
        ({"argv": ["true"], "timeout_s": 601}, "invalid"),
        ({"argv": ["true"], "timeout_s": True}, "invalid"),
        ({"argv": ["true"], "cwd": "/"}, "invalid"),
        ({"argv": ["nosuch"]}, "error"),
        ({"argv": [""]}, "error"),
        ({"argv": ["echo", "a\0"]}, "error"),
        ({"argv": ["echo", "x" * 9_000]}, "error"),
    ],
)
def test_a_call_that_starts_nothing_counts_as_an_error(
    worker: Worker, arguments: dict[str, Any], kind: str
) -> None:
    assert worker.call("shell__run", **arguments).kind == kind
    counted = worker.counters.snapshot()
    assert (counted.commandsRun, counted.toolErrors) == (0, 1)


def test_a_stopped_attempt_s_program_is_an_error(workdir: Path, marked: Marked) -> None:
    control = ScriptedControl(StopReason.CANCELLED, when=lambda: marked.alive() != [])
    seen = Worker(workdir, control).call("shell__run", argv=["sleep", marked.seconds])
    assert (seen.kind, seen.content) == ("error", "stopped: cancelled")


def test_a_program_has_no_more_time_than_its_attempt(workdir: Path, marked: Marked) -> None:
    worker = Worker(workdir, ScriptedControl(seconds=0.5))
    assert worker.answer("shell__run", argv=["sleep", marked.seconds])["timed_out"]


@pytest.mark.parametrize(("allowed", "names"), [(False, []), (True, ["shell__run"])])
def test_without_a_sandbox_the_tool_is_off_unless_allowed(
    workdir: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool, names: list[str]
) -> None:
    found = SandboxProbe(False, "", "none")
    monkeypatch.setattr("swarmui.adapters.tools.toolsets.probe", lambda: found)
    tools = build_tools(
        ["shell"],
        WorkspaceDir(workdir),
        control=ScriptedControl(),
        allow_not_isolated=allowed,
    )
    assert [tool.name for tool in tools] == names
    assert commands_isolated(["shell"], allow_not_isolated=allowed) is (False if allowed else None)


def test_a_worker_without_the_shell_runs_nothing(workdir: Path) -> None:
    assert commands_isolated(["filesystem"], allow_not_isolated=False) is None
    with pytest.raises(ValueError, match="not 'browser'"):
        build_tools(
            ["browser"],
            WorkspaceDir(workdir),
            control=ScriptedControl(),
            allow_not_isolated=False,
        )
