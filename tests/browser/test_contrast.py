"""The style sheets keep their promises in numbers: contrast AA in both themes, one place per
status."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.sources import ROOT
from verifier.lifecycle import NodeStatus

CSS = ROOT / "static" / "css"
PAIR = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
SURFACES = ("bg", "surface", "sunken", "hover", "sel")
INKS = ("text", "dim", "faint", "accent", "good", "warn", "bad")
AA_TEXT, AA_PARTS = 4.5, 3.0
THEMES = ("light", "dark")


def colours(path: Path) -> dict[str, dict[str, str]]:
    return {
        name: dict(zip(THEMES, pair, strict=True))
        for name, *pair in PAIR.findall(path.read_text(encoding="utf-8"))
    }


TOKENS = colours(CSS / "tokens.css")
STATUS = {
    name: pair for name, pair in colours(CSS / "status.css").items() if name.startswith("status-")
}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("surface", SURFACES)
def test_every_ink_is_readable_on_every_surface(theme: str, surface: str) -> None:
    inks = {name: TOKENS[name] for name in INKS} | STATUS
    weak = {
        name: round(ratio, 2)
        for name, pair in inks.items()
        if (ratio := contrast(pair[theme], TOKENS[surface][theme])) < AA_TEXT
    }
    assert weak == {}


@pytest.mark.parametrize("theme", THEMES)
def test_fields_have_a_border_one_can_see(theme: str) -> None:
    border = TOKENS["line-strong"][theme]
    assert contrast(border, TOKENS["surface"][theme]) >= AA_PARTS


@pytest.mark.parametrize("theme", THEMES)
def test_buttons_can_be_read(theme: str) -> None:
    assert contrast(TOKENS["on-accent"][theme], TOKENS["accent"][theme]) >= AA_TEXT


def test_every_status_has_a_colour_of_its_own_and_a_rule() -> None:
    text = (CSS / "status.css").read_text(encoding="utf-8")
    assert {f"status-{status}" for status in NodeStatus} <= STATUS.keys()
    assert all(f'[data-status="{status}"] {{' in text for status in NodeStatus)
    used = [tuple(STATUS[f"status-{status}"].values()) for status in NodeStatus]
    assert len(set(used)) == len(used)


def test_no_other_style_sheet_names_a_status() -> None:
    named = {
        f"{path.name}: {status}"
        for path in CSS.glob("*.css")
        if path.name != "status.css"
        for status in NodeStatus
        if re.search(rf'data-status="?{status}\b', path.read_text(encoding="utf-8"))
    }
    assert named == set()
