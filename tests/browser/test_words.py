"""Scripts and templates write numbers, times and statuses alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmui.templatetags import ui
from swarmui.views import vocabulary
from swarmui.views.run_parts import budget_lines
from tests.browser.driving import open_run
from tests.browser.trees import Grove
from tests.support.sources import ROOT
from verifier.framing import visible
from verifier.lifecycle import FAILED, TERMINAL, NodeStatus
from verifier.marks import Mark
from verifier.retry import ChosenBecause

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Site

COUNTS: list[Any] = [None, 0, 1, 999, 1000, 18_240, 99_949, 99_950, 999_499, 999_500, 109_512_345]
TIMES: list[Any] = [
    None, 0, 0.4, 3, 99, 100, 420, 9_949, 9_950, 59_400, 59_600, 188_000, 3_599_400, 7_500_000,
]  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_scripts_and_templates_write_numbers_alike(page: Page, site: Site) -> None:
    open_run(page, site, Grove())
    written = page.evaluate(
        """async ([counts, times]) => {
          const source = document.querySelector("script[src*='run.js']").src;
          const format = await import(new URL("format.js", source));
          return [counts.map(format.tokens), times.map(format.duration)];
        }""",
        [COUNTS, TIMES],
    )
    assert written == [[ui.tokens(n) for n in COUNTS], [ui.duration(ms) for ms in TIMES]]


@pytest.mark.parametrize(
    ("amount", "written"),
    [(None, "–"), (0, "$0.00"), (0.004, "< $0.01"), (0.41, "$0.41"), (1234.5, "$1,234.50")],
)
def test_money_is_never_rounded_to_nothing(amount: float | None, written: str) -> None:
    assert ui.usd(amount) == written


def test_every_status_mark_and_reason_has_words() -> None:
    assert vocabulary.STATUSES.keys() == frozenset(NodeStatus)
    assert vocabulary.MARKS.keys() == frozenset(Mark)
    assert vocabulary.CHOSEN.keys() == frozenset(ChosenBecause)
    groups = {group.code for group in vocabulary.GROUPS}
    assert {word.group for word in vocabulary.STATUSES.values()} <= groups


def test_every_icon_is_drawn() -> None:
    icons = (ROOT / "templates" / "components" / "icons.html").read_text(encoding="utf-8")
    wanted = {vocabulary.UNKNOWN_ICON, *(word.icon for word in vocabulary.STATUSES.values())}
    assert [icon for icon in wanted if f'id="i-{icon}"' not in icons] == []


def test_scripts_are_told_what_is_terminal_and_failed_and_how_bad() -> None:
    told = vocabulary.page_vocabulary()["statuses"]
    assert {code for code, word in told.items() if word["terminal"]} == set(TERMINAL)
    assert {code for code, word in told.items() if word["failed"]} == set(FAILED)
    ranked = [told[status]["severity"] for status in FAILED]
    assert sorted(ranked) == list(range(len(FAILED)))


@pytest.mark.parametrize("code", ["brand_new", "\x1b[31m<b>\u202e", "x" * 500])
def test_what_the_vocabulary_does_not_know_is_neutral_and_inert(code: str) -> None:
    word = vocabulary.status_word(code)
    assert (word.icon, word.group) == (vocabulary.UNKNOWN_ICON, "")
    for shown in (word.word, vocabulary.mark_word(code).word, vocabulary.chosen_words(code)):
        assert shown == visible(shown)
        assert len(shown) <= vocabulary.CODE_CHARS


def test_a_node_without_gates_is_not_said_to_have_passed_any() -> None:
    assert "passed" not in vocabulary.status_word(NodeStatus.OK).means


def _budget(spent: int | None, unmetered: int, reserved: int = 0) -> dict[str, Any]:
    return {
        "usd": {"cap": None, "reserved": 0, "spent": None, "unpriced_attempts": unmetered},
        "tokens": {
            "cap": 400_000, "reserved": reserved, "spent": spent, "unmetered_attempts": unmetered,
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("budget", "headline", "lines"),
    [
        (_budget(0, 0), "0 tokens", ["no cost was reported"]),
        (_budget(12_300, 0, 36_000), "12.3 k tokens", ["36.0 k reserved · no cost was reported"]),
        # programs alone: nothing is known, and nothing is not zero
        (
            _budget(None, 2),
            "tokens unknown",
            ["no cost was reported", "Not counted: 2 attempts of unknown usage."],
        ),
        # a part of the sum is unknown: it is a least one
        (
            _budget(12_300, 1),
            "≥ 12.3 k tokens",
            ["no cost was reported", "Not counted: 1 attempt of unknown usage."],
        ),
    ],
)
def test_the_budget_says_what_is_known_and_what_is_not(
    budget: dict[str, Any], headline: str, lines: list[str]
) -> None:
    said = budget_lines(budget)
    assert (said["headline"], said["lines"]) == (headline, lines)


def test_a_sum_of_money_with_unknown_parts_is_a_least_one() -> None:
    budget = _budget(500, 1)
    budget["usd"] |= {"cap": 2.0, "spent": 0.41}
    said = budget_lines(budget)
    assert (said["headline"], said["of"]) == ("≥ $0.41", "of $2.00")
    budget["usd"]["spent"] = None
    assert budget_lines(budget)["headline"] == "cost unknown"
