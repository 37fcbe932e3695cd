"""What the README points to is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.sources import ROOT, tree_of

README = (ROOT / "README.md").read_text(encoding="utf-8")


def _rules() -> list[tuple[str, str, str]]:
    section = README.split("## Where is the rule that …?")[1].split("\n## ")[0]
    return re.findall(r"^\| (.+?) \| `(.+?)` \| `(.+?)` \|$", section, re.MULTILINE)


def _names_of(path: Path) -> set[str]:
    """What a Python file defines at its top level."""
    names: set[str] = set()
    for node in tree_of(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def test_the_table_of_rules_is_read() -> None:
    assert len(_rules()) > 25


@pytest.mark.parametrize(("rule", "file", "name"), _rules())
def test_each_rule_is_where_the_readme_says(rule: str, file: str, name: str) -> None:
    path = ROOT / file
    assert path.is_file(), f"the rule that {rule}: there is no {file}"
    known = (
        _names_of(path) if path.suffix == ".py" else set(re.findall(r"[\w-]+", path.read_text()))
    )
    assert name in known, f"the rule that {rule}: {file} has no {name}"


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!https?:)([^)#]+)", README))))
def test_each_link_leads_to_a_file(target: str) -> None:
    assert (ROOT / target).is_file()


def test_each_command_named_exists() -> None:
    from django.core.management import get_commands

    named = set(re.findall(r"(?<![=\w])swarmui ([a-z_]+)\b", README)) - {"migrate", "collectstatic"}
    assert named - set(get_commands()) == set()


def test_each_make_target_named_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)\b", README)) - targets == set()


def test_each_variable_named_is_read() -> None:
    from swarmui.environment import Environment

    known = {name.upper() for name in Environment.model_fields}
    named = set(re.findall(r"`(SWARMUI_[A-Z_]+|DATABASE_URL|REDIS_URL|TRUSTED_ORIGINS)\b", README))
    assert named - known - {"SWARMUI_KEY_"} == set()
