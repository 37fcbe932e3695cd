"""What was touched, and how it gets into the run's base."""

from collections.abc import Callable
from pathlib import Path

import pytest

from swarmui.adapters.workspace import (
    Inventory,
    Promotion,
    files_touched,
    inventory,
    prepare_attempt,
    prepare_base,
    promote,
)

Change = Callable[[Path], object]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    (source / "src").mkdir(parents=True)
    (source / "src" / "a.py").write_text("a = 1\n")
    (source / "src" / "b.py").write_text("b = 1\n")
    (source / "top").write_text("top\n")
    (source / "link").symlink_to("top")
    return prepare_base(tmp_path / "run", source, "copy")


def attempt_of(base: Path, name: str, change: Change) -> tuple[Path, Inventory, Inventory]:
    place = prepare_attempt(base.parent, name, base, "copy")
    before = inventory(place)
    change(place)
    return place, before, inventory(place)


@pytest.mark.parametrize(
    ("change", "touched"),
    [
        (lambda root: (root / "new").write_text("x"), ["new"]),
        (lambda root: (root / "top").write_text("top!\n"), ["top"]),
        (lambda root: (root / "top").write_text("top\n"), []),  # written, to the same content
        (lambda root: (root / "top").write_text("TOP\n"), ["top"]),  # the same size
        (lambda root: (root / "top").chmod(0o755), ["top"]),
        (lambda root: (root / "top").unlink(), ["top"]),
        (lambda root: (root / "top").rename(root / "moved"), ["moved", "top"]),
        (lambda root: (root / "other").symlink_to("/etc/passwd"), ["other"]),
        (lambda root: (root / "folder").mkdir(), []),  # a folder holds no content of its own
        (lambda root: (root / ".git").mkdir() or (root / ".git" / "x").touch(), []),
    ],
)
def test_touched_is_what_differs(base: Path, change: Change, touched: list[str]) -> None:
    _, before, after = attempt_of(base, "n1", change)
    assert files_touched(before, after) == tuple(touched)


def test_a_name_that_is_no_text_can_be_stored(base: Path) -> None:
    _, before, after = attempt_of(base, "n1", lambda root: (root / "\udcff").touch())
    assert files_touched(before, after) == (r"\xff",)


def test_what_could_not_be_measured_is_not_zero(base: Path) -> None:
    partly = inventory(base, max_bytes=3)
    assert not partly.complete
    assert files_touched(partly, inventory(base)) is None
    assert files_touched(inventory(base), partly) is None


def test_a_tree_deeper_than_is_walked_is_not_measured(base: Path) -> None:
    (base / "/".join("d" * 80)).mkdir(parents=True)
    assert not inventory(base).complete


def _rework(root: Path) -> None:
    (root / "src" / "a.py").write_text("a = 2\n")
    (root / "src" / "b.py").unlink()
    (root / "docs" / "deep").mkdir(parents=True)
    (root / "docs" / "deep" / "c.md").write_text("c\n")
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    (root / "link").unlink()
    (root / "link").symlink_to("src/a.py")


def test_an_attempt_s_changes_arrive_in_the_base(base: Path) -> None:
    place, before, after = attempt_of(base, "n1", _rework)
    applied = ("docs/deep/c.md", "link", "src/a.py", "src/b.py", "tool")
    assert promote(place, before, after, base) == Promotion(applied=applied)
    assert inventory(base) == after
    assert (base / "tool").stat().st_mode & 0o100


def test_promoting_twice_ends_the_same(base: Path) -> None:
    place, before, after = attempt_of(base, "n1", _rework)
    first = promote(place, before, after, base)
    assert promote(place, before, after, base) == first
    assert inventory(base) == after


def test_two_branches_with_different_files_both_arrive(base: Path) -> None:
    one = attempt_of(base, "n1", lambda root: (root / "one").write_text("1"))
    two = attempt_of(base, "n2", lambda root: (root / "two").write_text("2"))
    assert promote(*one, base).conflicts == ()
    assert promote(*two, base).conflicts == ()
    assert {"one", "two"} <= inventory(base).files.keys()


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        # changed by both
        (
            lambda root: (root / "top").write_text("theirs"),
            lambda root: (root / "top").write_text("ours"),
        ),
        # removed there, changed here
        (lambda root: (root / "top").unlink(), lambda root: (root / "top").write_text("ours")),
        # changed there, removed here
        (lambda root: (root / "top").write_text("theirs"), lambda root: (root / "top").unlink()),
        # made by both
        (
            lambda root: (root / "new").write_text("theirs"),
            lambda root: (root / "new").write_text("ours"),
        ),
        # a link there, which must not be written through
        (
            lambda root: (root / "new").symlink_to("top"),
            lambda root: (root / "new").write_text("ours"),
        ),
        # a file there, a folder here
        (
            lambda root: (root / "new").write_text("theirs"),
            lambda root: (root / "new").mkdir() or (root / "new" / "x").touch(),
        ),
        # a link to a folder there, a folder here
        (
            lambda root: (root / "new").symlink_to("src"),
            lambda root: (root / "new").mkdir() or (root / "new" / "a.py").write_text("ours"),
        ),
    ],
)
def test_another_s_change_is_never_overwritten(base: Path, theirs: Change, ours: Change) -> None:
    mine = attempt_of(base, "n2", ours)
    promote(*attempt_of(base, "n1", theirs), base)
    agreed = inventory(base)
    result = promote(*mine, base)
    assert result.applied == ()
    assert len(result.conflicts) == 1
    assert inventory(base) == agreed


def test_the_same_change_by_both_is_no_conflict(base: Path) -> None:
    both = [attempt_of(base, name, _rework) for name in ("n1", "n2")]
    assert [promote(*each, base).conflicts for each in both] == [(), ()]


def test_a_folder_may_become_a_file(base: Path) -> None:
    def change(root: Path) -> None:
        for name in ("a.py", "b.py"):
            (root / "src" / name).unlink()
        (root / "src").rmdir()
        (root / "src").write_text("now a file")

    place, before, after = attempt_of(base, "n1", change)
    assert promote(place, before, after, base).conflicts == ()
    assert (base / "src").read_text() == "now a file"


def test_in_place_there_is_nothing_to_carry(base: Path) -> None:
    before = inventory(base)
    (base / "new").touch()
    assert promote(base, before, inventory(base), base) == Promotion()


def test_what_was_not_measured_is_not_carried(base: Path) -> None:
    place, before, _ = attempt_of(base, "n1", _rework)
    result = promote(place, before, Inventory(complete=False), base)
    assert result.applied == ()
    assert result.problem is not None
    assert inventory(base) == before
