"""Reads a recording from its file: beneath its folder, plain YAML, with clear words."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from swarmui.adapters.models.recorded import RecordedError, Recording
from swarmui.adapters.paths import OutsideWorkspace, PathRefused
from swarmui.adapters.workspace.directory import WorkspaceDir
from verifier.framing import one_line

MAX_FILE_BYTES = 1_000_000
SHOWN_PROBLEMS = 5


def load_recording(path: str, root: Path) -> Recording:
    """Reads `path` beneath `root`; raises `RecordedError` with what was expected and seen."""
    text = _read_beneath(path, root)
    try:
        data = yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - a SafeLoader, made stricter
    except yaml.YAMLError as problem:
        raise RecordedError(f"{path}: not plain YAML: {_where(problem)}") from None
    except RecursionError:
        raise RecordedError(f"{path}: nested too deeply") from None
    try:
        return Recording.model_validate(data)
    except ValidationError as problem:
        raise RecordedError(f"{path}: {'; '.join(_problems(problem))}") from None


def _read_beneath(path: str, root: Path) -> str:
    try:
        with WorkspaceDir(root).open_read(path) as descriptor:
            raw = _at_most(descriptor, MAX_FILE_BYTES + 1)
    except OutsideWorkspace:
        shown = one_line(path, 200)
        raise RecordedError(
            f"{shown}: expected a path beneath the recordings' folder, without links"
        ) from None
    except PathRefused as refusal:
        raise RecordedError(f"{one_line(path, 200)}: {refusal}") from None
    except FileNotFoundError:
        raise RecordedError(f"{path}: there is no such recording") from None
    except OSError as problem:
        raise RecordedError(f"{path}: cannot be read: {problem.strerror}") from None
    if len(raw) > MAX_FILE_BYTES:
        raise RecordedError(f"{path}: larger than {MAX_FILE_BYTES:,} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise RecordedError(f"{path}: not UTF-8 text") from None


def _at_most(descriptor: int, count: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read(count)


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases (a small file could grow without bound) and without doubled keys."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases are not accepted", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} is given twice", key.start_mark
                )
            if isinstance(key.value, str):
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def _where(problem: yaml.YAMLError) -> str:
    if isinstance(problem, yaml.MarkedYAMLError) and problem.problem_mark is not None:
        mark = problem.problem_mark
        return f"{problem.problem} (line {mark.line + 1}, column {mark.column + 1})"
    return str(problem)[:200]


def _problems(error: ValidationError) -> Iterator[str]:
    found = error.errors(include_url=False, include_input=False)
    for problem in found[:SHOWN_PROBLEMS]:
        place = ""
        for part in problem["loc"]:
            place += f"[{part}]" if isinstance(part, int) else f".{part}"
        yield f"{place.lstrip('.') or 'the file'}: {problem['msg'].removeprefix('Value error, ')}"
    if len(found) > SHOWN_PROBLEMS:
        yield f"and {len(found) - SHOWN_PROBLEMS} more"
