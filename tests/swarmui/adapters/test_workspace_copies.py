"""The private folders of a run: complete or absent, and never shared."""

import os
import subprocess
from pathlib import Path

import pytest

from swarmui.adapters.workspace import (
    CopyLimits,
    WorkspaceError,
    prepare_attempt,
    prepare_base,
    remove_tree,
    resolve_source,
)
from swarmui.adapters.workspace import copy as copying


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("a = 1\n")
    (root / "run").write_text("#!/bin/sh\n")
    (root / "run").chmod(0o4755)
    (root / "link").symlink_to("src/a.py")
    (root / "broken").symlink_to("/nowhere")
    (root / "twin").hardlink_to(root / "run")
    os.mkfifo(root / "fifo")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("secret")
    (root / "sub").mkdir()
    (root / "sub" / ".git").write_text("gitdir: elsewhere")
    return root


def names(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def test_a_copy_holds_files_and_links_and_nothing_else(source: Path, tmp_path: Path) -> None:
    base = prepare_base(tmp_path / "run", source, "copy")
    assert names(base) == {"src", "src/a.py", "run", "link", "broken", "twin", "sub"}
    assert (base / "link").readlink() == Path("src/a.py")
    assert (base / "broken").readlink() == Path("/nowhere")


def test_a_copy_shares_nothing_with_its_original(source: Path, tmp_path: Path) -> None:
    base = prepare_base(tmp_path / "run", source, "copy")
    (base / "run").write_text("changed")
    assert (source / "run").read_text() == "#!/bin/sh\n"
    assert (base / "twin").stat().st_nlink == 1
    assert (base / "run").stat().st_mode & 0o7777 == 0o755  # may be run, as nobody else


def test_attempts_do_not_see_each_other(source: Path, tmp_path: Path) -> None:
    base = prepare_base(tmp_path / "run", source, "copy")
    first = prepare_attempt(tmp_path / "run", "n1-1", base, "copy")
    second = prepare_attempt(tmp_path / "run", "n2-1", base, "copy")
    (first / "src" / "a.py").write_text("a = 2\n")
    assert (second / "src" / "a.py").read_text() == "a = 1\n"


def test_preparing_an_attempt_again_starts_clean(source: Path, tmp_path: Path) -> None:
    base = prepare_base(tmp_path / "run", source, "copy")
    place = prepare_attempt(tmp_path / "run", "n1-1", base, "copy")
    (place / "left behind").touch()
    (place / "run").unlink()
    assert prepare_attempt(tmp_path / "run", "n1-1", base, "copy") == place
    assert not (place / "left behind").exists()
    assert (place / "run").exists()


def test_a_name_that_begins_like_another_leaves_it_alone(source: Path, tmp_path: Path) -> None:
    longer = prepare_attempt(tmp_path / "run", "1-2", source, "copy")
    prepare_attempt(tmp_path / "run", "1", source, "copy")
    assert (longer / "run").exists()


def test_the_base_is_made_once(source: Path, tmp_path: Path) -> None:
    base = prepare_base(tmp_path / "run", source, "copy")
    (source / "later").touch()
    assert prepare_base(tmp_path / "run", source, "copy") == base
    assert not (base / "later").exists()


def test_without_a_source_the_workspace_is_empty(tmp_path: Path) -> None:
    assert list(prepare_base(tmp_path / "run", None, "copy").iterdir()) == []


def test_in_place_is_the_folder_itself(source: Path, tmp_path: Path) -> None:
    assert prepare_base(tmp_path / "run", source, "in_place") == source
    assert prepare_attempt(tmp_path / "run", "n1-1", source, "in_place") == source


class Killed(BaseException):
    """As SIGKILL: nothing of the code under test may handle it on purpose."""


def test_a_copy_cut_short_leaves_nothing_half_made(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(copying._Copier, "_copy_content", dies)
        with pytest.raises(Killed):
            prepare_base(tmp_path / "run", source, "copy")
    assert not (tmp_path / "run" / "base").exists()
    assert "src/a.py" in names(prepare_base(tmp_path / "run", source, "copy"))


def test_what_a_killed_process_left_is_not_taken_for_a_base(source: Path, tmp_path: Path) -> None:
    half = tmp_path / "run" / ".new-base"
    half.mkdir(parents=True)
    (half / "half").touch()
    assert "half" not in names(prepare_base(tmp_path / "run", source, "copy"))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (CopyLimits(files=3), "more than 3 files"),
        (CopyLimits(size=10), "holds more than 0 MiB"),
    ],
)
def test_too_large_a_workspace_is_refused_in_words(
    source: Path, tmp_path: Path, limits: CopyLimits, message: str
) -> None:
    with pytest.raises(WorkspaceError, match=message):
        prepare_base(tmp_path / "run", source, "copy", limits)
    assert not (tmp_path / "run" / "base").exists()


def test_too_deep_a_workspace_is_refused_in_words(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "/".join("d" * 80)).mkdir(parents=True)
    with pytest.raises(WorkspaceError, match="deeper than 64 levels"):
        prepare_base(tmp_path / "run", source, "copy")


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 200, "a\n"])
def test_an_attempt_has_a_plain_name(source: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="a name of letters"):
        prepare_attempt(tmp_path / "run", name, source, "copy")


def test_a_hostile_tree_is_removed_whole(tmp_path: Path) -> None:
    root = tmp_path / "hostile"
    root.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    (root / "link").symlink_to(outside)
    os.mkfifo(root / "fifo")
    handle = os.open(root, os.O_RDONLY)
    for _ in range(3_000):  # past Python's recursion and past the descriptors of a process
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    (root / "closed" / "in").mkdir(parents=True)
    (root / "closed").chmod(0)
    remove_tree(root)
    assert not root.exists()
    assert (outside / "kept").exists()
    remove_tree(root)  # again: nothing to do


def test_a_link_in_place_of_a_tree_is_only_unlinked(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to("kept")
    remove_tree(tmp_path / "link")
    assert (tmp_path / "kept").exists()
    assert not (tmp_path / "link").is_symlink()


# ------------------------------------------------------------------ what an operator names


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "inner").mkdir(parents=True)
    (root / "tracked").write_text("committed\n")
    (root / "inner" / "x").touch()
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "first")
    (root / "tracked").write_text("changed since\n")
    (root / "untracked").touch()
    return root


def test_a_worktree_is_the_commit_without_what_came_after(repository: Path, tmp_path: Path) -> None:
    base = prepare_base(tmp_path / "run", repository, "worktree")
    assert prepare_base(tmp_path / "run", repository, "worktree") == base
    assert (base / "tracked").read_text() == "committed\n"
    assert not (base / "untracked").exists()
    attempt = prepare_attempt(tmp_path / "run", "n1-1", base, "worktree")
    assert names(attempt) == {"tracked", "inner", "inner/x"}


def test_a_worktree_leaves_nothing_behind_in_the_repository(
    repository: Path, tmp_path: Path
) -> None:
    base = prepare_base(tmp_path / "run", repository, "worktree")
    listed = subprocess.run(
        ["git", "worktree", "list", "--porcelain"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout.count("worktree ") == 1
    assert not (base / ".git").exists()


def test_a_worktree_cut_short_is_made_again(repository: Path, tmp_path: Path) -> None:
    base = prepare_base(tmp_path / "run", repository, "worktree")
    (base / "tracked").unlink()
    (tmp_path / "run" / "base.complete").unlink()  # the mark that is written last
    assert (prepare_base(tmp_path / "run", repository, "worktree") / "tracked").exists()


def test_a_repository_starts_no_program_when_it_is_checked_out(
    repository: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(hook))
    prepare_base(tmp_path / "run", repository, "worktree")
    assert not ran.exists()


@pytest.mark.parametrize("name", ["evil", "a=b", "two words", "a.b"])
def test_a_worktree_starts_no_filter_program_of_the_repository(
    repository: Path, tmp_path: Path, name: str
) -> None:
    """Attributes that git tracks choose among the drivers that its configuration names."""
    ran = tmp_path / "ran"
    (repository / ".gitattributes").write_text(f"tracked filter={name}\n")
    git(repository, "add", ".gitattributes")
    git(repository, "commit", "--quiet", "--message", "attributes")
    for kind in ("smudge", "process"):
        git(repository, "config", f"filter.{name}.{kind}", f"touch {ran}; cat")
    git(repository, "config", f"filter.{name}.required", "true")
    base = prepare_base(tmp_path / "run", repository, "worktree")
    assert (base / "tracked").read_text() == "committed\n"
    assert not ran.exists()


def test_a_source_is_a_folder_that_exists(source: Path, tmp_path: Path) -> None:
    assert resolve_source("source", "copy", None, tmp_path) == source
    assert resolve_source(str(source), "copy", [tmp_path], Path("/")) == source


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere", "does not exist"),
        ("source/run", "is not a folder"),
        ("a\0b", "without NUL"),
        ("x" * 2_000, "at most 1,024 bytes"),
        ("..", "outside the folders allowed"),
        ("/", "outside the folders allowed"),
        ("/etc/passwd", "outside the folders allowed"),  # not told what it is
        ("to_etc", "outside the folders allowed"),
    ],
)
def test_a_source_that_cannot_be_used_is_refused_in_words(
    source: Path, tmp_path: Path, path: str, message: str
) -> None:
    (tmp_path / "to_etc").symlink_to("/etc")
    with pytest.raises(WorkspaceError, match=message):
        resolve_source(path, "copy", [tmp_path], tmp_path)


@pytest.mark.parametrize(
    ("path", "message"),
    [("source", "needs a git repository"), ("repository/inner", "takes a whole repository")],
)
def test_a_worktree_needs_a_whole_repository(
    source: Path, repository: Path, tmp_path: Path, path: str, message: str
) -> None:
    with pytest.raises(WorkspaceError, match=message):
        resolve_source(path, "worktree", None, tmp_path)


def test_a_repository_without_a_commit_has_no_worktree(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "fresh")
    with pytest.raises(WorkspaceError, match="needs a git repository with a commit"):
        resolve_source("fresh", "worktree", None, tmp_path)
