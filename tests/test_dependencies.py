"""The list of dependencies in docs/ is the one in pyproject.toml."""

from __future__ import annotations

import re
import tomllib

from tests.support.sources import ROOT


def _listed(section: str) -> set[str]:
    text = (ROOT / "docs" / "dependencies.md").read_text()
    body = text.split(f"## {section}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([a-z0-9-]+) \| (\S.*) \| (\S.*) \|$", body, re.MULTILINE)
    return {name for name, licence, why in rows if name != "package"}


def _declared(requirements: list[str]) -> set[str]:
    names = (re.match(r"[A-Za-z0-9._-]+", one) for one in requirements)
    return {name[0].lower() for name in names if name}


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_every_dependency_of_the_product_is_explained() -> None:
    assert _listed("The product") == _declared(PROJECT["dependencies"])


def test_every_dependency_of_the_tests_is_explained() -> None:
    assert _listed("Tests and linters") == _declared(PROJECT["optional-dependencies"]["dev"])


def test_what_installs_is_explained() -> None:
    lock = (ROOT / "requirements-build.lock").read_text()
    assert _listed("To install with") == set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))
