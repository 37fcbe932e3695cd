"""Which files below ``live`` may touch rows: one."""

from __future__ import annotations

import ast
from pathlib import Path

import swarmui.live

FOLDER = Path(swarmui.live.__file__).parent
DATABASE = ("swarmui.models", "swarmui.selectors", "swarmui.services", "django.db", "channels.db")


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_only_the_reader_of_the_hub_touches_rows() -> None:
    touching = {
        path.name
        for path in FOLDER.glob("*.py")
        if any(name.startswith(DATABASE) for name in imports_of(path))
    }
    assert touching == {"reading.py"}
