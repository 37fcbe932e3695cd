"""The recorded format: what is refused, with which words, and which script is played."""

import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from swarmui.adapters.models.recorded import RecordedError
from swarmui.adapters.models.recording_file import MAX_FILE_BYTES, load_recording
from tests.fakes_models import key

GOOD: dict[str, Any] = {
    "format": 1,
    "family": "rehearsal",
    "scripts": [{"name": "s", "turns": [{"final": "done"}]}],
}


def _turns(*turns: Any) -> dict[str, Any]:
    return GOOD | {"scripts": [{"name": "s", "turns": list(turns)}]}


def _write(root: Path, content: Any) -> None:
    text = content if isinstance(content, str) else yaml.safe_dump(content)
    (root / "m.yaml").write_text(text, encoding="utf-8")


def test_the_smallest_recording_is_read(tmp_path: Path) -> None:
    _write(tmp_path, GOOD)
    assert load_recording("m.yaml", tmp_path).script_for(key()).turns[0].final == "done"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the file: Input should be"),
        ("- 1", "the file: Input should be"),
        ("format: [", "not plain YAML"),
        ("a: 1\na: 2", "the key 'a' is given twice (line 2"),
        # grows without bound when expanded
        ("a: &x [1, 1]\nb: [*x, *x]", "aliases are not accepted"),
        ("!!python/object/apply:os.system ['true']", "could not determine a constructor"),
        ("[" * 5_000, "nested too deeply"),
        (GOOD | {"format": 2}, "format: Input should be less than or equal to 1"),
        (GOOD | {"format": True}, "format: Input should be a valid integer"),
        (GOOD | {"extra": 1}, "extra: Extra inputs are not permitted"),
        ({"format": 1, "scripts": GOOD["scripts"]}, "family: Field required"),
        (GOOD | {"scripts": []}, "scripts: "),
        (
            GOOD | {"scripts": [dict(GOOD["scripts"][0]), deepcopy(GOOD["scripts"][0])]},
            "script 's' is never played",
        ),
        (_turns(), "scripts[0].turns: "),
        (_turns({}), "scripts[0].turns[0]: expected exactly one of calls, final and fail"),
        (_turns({"final": "x", "fail": "crash"}), "expected exactly one of"),
        (_turns({"final": "x", "say": "y"}), "leave out say"),
        (_turns({"final": "x"}, {"final": "y"}), "turns[0] ends the script"),
        (_turns({"calls": [{"tool": "t"}]}), "expected the last turn to be final or fail"),
        (_turns({"fail": "fire"}), "scripts[0].turns[0].fail: "),
        (_turns({"final": "x", "delay_ms": -1}), "scripts[0].turns[0].delay_ms: "),
        (_turns({"final": "x", "delay_ms": 3_600_000}), "scripts[0].turns[0].delay_ms: "),
        (_turns({"final": "x", "tokens": {"input": 1}}), "tokens.output: Field required"),
        (_turns({"final": "x", "tokens": {"input": True, "output": 1}}), "tokens.input: "),
        (_turns({"calls": [{"tool": "t", "args": [1]}]}), "calls[0].args: "),
        (
            GOOD | {"scripts": [GOOD["scripts"][0] | {"when": {"branch": 8}}]},
            "scripts[0].when.branch: ",
        ),
    ],
)
def test_a_bad_recording_is_refused_with_the_place_and_the_reason(
    content: Any, words: str, tmp_path: Path
) -> None:
    _write(tmp_path, content)
    with pytest.raises(RecordedError) as refusal:
        load_recording("m.yaml", tmp_path)
    assert words in str(refusal.value)
    assert str(refusal.value).startswith("m.yaml: ")
    assert len(str(refusal.value)) < 2_000


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "a path was expected"),
        ("/etc/hosts", "beneath the recordings' folder"),
        ("a\0b", "beneath the recordings' folder"),
        ("../secret.yaml", "beneath the recordings' folder"),
        ("link.yaml", "beneath the recordings' folder"),
        ("missing.yaml", "no such recording"),
        ("folder", "not a regular file"),
        ("pipe", "not a regular file"),  # opening one must not wait for a writer
        ("big.yaml", "larger than"),
        ("latin.yaml", "not UTF-8"),
    ],
)
def test_a_recording_is_only_read_beneath_its_folder(path: str, words: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "secret.yaml").write_text("format: 1")
    (root / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (root / "big.yaml").write_bytes(b" " * (MAX_FILE_BYTES + 1))
    (root / "latin.yaml").write_bytes(b"family: \xe9")
    os.mkfifo(root / "pipe")
    with pytest.raises(RecordedError, match=words):
        load_recording(path, root)


@pytest.mark.parametrize(
    ("when", "fits"),
    [
        ({}, True),
        ({"branch": 0}, True),
        ({"branch": 1}, False),
        ({"role": "writing", "topic": "docs", "attempt": 1, "replacement": 0}, True),
        ({"role": "writer"}, False),
        ({"topic": "doc"}, False),
        ({"attempt": 2}, False),
        ({"replacement": 1}, False),
    ],
)
def test_a_script_is_chosen_by_everything_it_names(
    when: dict[str, Any], fits: bool, tmp_path: Path
) -> None:
    _write(tmp_path, GOOD | {"scripts": [GOOD["scripts"][0] | {"when": when}]})
    loaded = load_recording("m.yaml", tmp_path)
    if fits:
        assert loaded.script_for(key()).name == "s"
    else:
        with pytest.raises(RecordedError, match="no recorded script fits branch 0, role 'writing'"):
            loaded.script_for(key())


def test_the_first_script_that_fits_is_played(tmp_path: Path) -> None:
    scripts = [
        {"name": "second try", "when": {"attempt": 2}, "turns": [{"final": "b"}]},
        {"name": "any", "turns": [{"final": "a"}]},
    ]
    _write(tmp_path, GOOD | {"scripts": scripts})
    loaded = load_recording("m.yaml", tmp_path)
    assert loaded.script_for(key(attempt=2)).name == "second try"
    assert loaded.script_for(key(attempt=3)).name == "any"


def test_a_script_matches_the_root_which_has_no_branch(tmp_path: Path) -> None:
    _write(tmp_path, GOOD)
    assert load_recording("m.yaml", tmp_path).script_for(key(branch=None)).name == "s"
