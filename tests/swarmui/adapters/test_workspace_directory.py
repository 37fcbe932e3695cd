"""The workspace as gates and tools see it."""

import os
from pathlib import Path

import pytest

from swarmui.adapters.paths import OutsideWorkspace
from swarmui.adapters.workspace import WorkspaceDir
from verifier.ports import PathFact, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceDir:
    root = tmp_path / "root"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "a.md").write_text("four")
    (root / "link").symlink_to("docs/a.md")
    (root / "out").symlink_to("/etc/passwd")
    os.mkfifo(root / "fifo")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[remote]")
    return WorkspaceDir(root)


@pytest.mark.parametrize(
    ("path", "fact"),
    [
        ("docs/a.md", PathFact(exists=True, kind="file", size=4)),
        ("docs", PathFact(exists=True, kind="dir")),
        ("docs/", PathFact(exists=True, kind="dir")),
        (".", PathFact(exists=True, kind="dir")),
        ("fifo", PathFact(exists=True, kind="other")),
        ("docs/b.md", PathFact(exists=False)),
        ("docs/a.md/b", PathFact(exists=False)),
        ("docs/a.md/", PathFact(exists=False)),
        ("nowhere/b", PathFact(exists=False)),
    ],
)
def test_a_fact_says_what_is_there(workspace: WorkspaceDir, path: str, fact: PathFact) -> None:
    seen: Workspace = workspace  # it is what the library's port asks for
    assert seen.fact(path) == fact


@pytest.mark.parametrize(
    "path",
    ["../x", "/etc/passwd", "link", "out", "a\0b", ".git/config", ".GIT/config", "docs/.git/x"],
)
def test_a_fact_of_a_path_outside_is_a_refusal(workspace: WorkspaceDir, path: str) -> None:
    fact = workspace.fact(path)
    assert not fact.exists
    assert fact.refusal is not None
    assert fact.refusal.startswith("outside the workspace: ")


@pytest.mark.parametrize("path", ["", "x" * 2_000, "a/" * 40 + "b", "\ud800", "x" * 300])
def test_a_fact_never_raises(workspace: WorkspaceDir, path: str) -> None:
    fact = workspace.fact(path)
    assert not fact.exists
    assert fact.refusal


def test_a_workspace_that_is_gone_has_no_facts(tmp_path: Path) -> None:
    assert WorkspaceDir(tmp_path / "gone").fact("a") == PathFact(exists=False)


def test_writing_replaces_and_appending_adds(workspace: WorkspaceDir) -> None:
    for content, append in ((b"long content", False), (b"new", False), (b" more", True)):
        with workspace.open_write("new/file", append=append) as fd:
            os.write(fd, content)
    assert (workspace.root / "new" / "file").read_bytes() == b"new more"


def test_the_repository_is_not_listed_nor_written(workspace: WorkspaceDir) -> None:
    entries, complete = workspace.entries(".", 100)
    assert [(entry.name, entry.kind) for entry in entries] == [
        ("docs", "dir"),
        ("fifo", "other"),
        ("link", "link"),
        ("out", "link"),
    ]
    assert complete
    with pytest.raises(OutsideWorkspace), workspace.open_write(".git/hooks/post-checkout"):
        pass


def test_a_long_listing_says_that_it_is_cut(workspace: WorkspaceDir) -> None:
    entries, complete = workspace.entries(".", 2)
    assert len(entries) == 2
    assert not complete


def test_making_a_folder_says_whether_it_is_new(workspace: WorkspaceDir) -> None:
    assert workspace.make_folder("a/b")
    assert not workspace.make_folder("a/b")
