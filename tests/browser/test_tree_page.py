"""The run page: every status in its own dress, folds and folds' survival, filters, keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from swarmui.views.vocabulary import STATUSES
from tests.browser.driving import (
    active_role,
    live_state,
    open_run,
    row,
    shown_roles,
    shown_seq,
)
from tests.browser.trees import Grove, recovered
from tests.waiting import wait_until
from verifier.lifecycle import NodeStatus

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Site


@pytest.mark.django_db(transaction=True)
def test_every_status_has_its_own_icon_word_and_colour(page: Page, site: Site) -> None:
    grove = Grove()
    nodes = {status: grove.grown("agent", status, status) for status in NodeStatus}
    open_run(page, site, grove)
    dresses = {}
    for status, node in nodes.items():
        shown = row(page, node).locator(".s")
        dresses[status] = (
            shown.locator("use").get_attribute("href"),
            shown.locator(".word").text_content(),
            shown.evaluate("element => getComputedStyle(element).color"),
        )
    assert {status: word for status, (_, word, _) in dresses.items()} == {
        status: STATUSES[status].word for status in NodeStatus
    }
    assert len({icon for icon, _, _ in dresses.values()}) == len(NodeStatus)
    assert len({colour for _, _, colour in dresses.values()}) == len(NodeStatus)
    assert all(page.locator(f"symbol{icon}").count() == 1 for icon, _, _ in dresses.values())
    assert page.complaints == []


@pytest.mark.django_db(transaction=True)
def test_a_status_the_page_does_not_know_is_neutral_and_never_a_spinner(
    page: Page, site: Site
) -> None:
    grove = Grove()
    node = grove.grown("agent", "work", NodeStatus.RUNNING)
    changed = {"rows": [], "seq": 0}

    def unknown(route) -> None:
        answer = route.fetch().json()
        answer["rows"] = [[*r[:8], "brandnew", *r[9:]] for r in answer["rows"]]
        changed.update(answer)
        route.fulfill(json=answer)

    open_run(page, site, grove)
    page.route("**/rows?*", unknown)
    page.keyboard.press("p")
    grove.move(node, NodeStatus.OK)
    page.keyboard.press("p")
    shown = row(page, node).locator(".s")
    shown.locator("text=brandnew").wait_for()
    assert shown.locator("use").get_attribute("href") == "#i-unknown"
    assert page.locator("#node-counts").text_content().count("brandnew") == 1


@pytest.mark.django_db(transaction=True)
def test_a_row_tells_of_attempts_marks_and_the_worst_below_it(page: Page, site: Site) -> None:
    grove = Grove()
    mended = recovered(grove)
    liar = grove.grown("writing", "usage", NodeStatus.OK, marks=("receipt_mismatch",))
    crashed = grove.grown("code", "dates", NodeStatus.TOOL_ERROR)
    again = grove.add("code", "dates", retry_of=crashed)
    open_run(page, site, grove)
    assert row(page, mended).locator(".mark").all_text_contents() == ["attempt 2 of 2"]
    assert row(page, mended).locator(".bar").count() >= 2
    assert row(page, liar).locator(".mark").all_text_contents() == ["receipt disagrees"]
    assert row(page, again).locator(".mark").all_text_contents() == ["retry of the above"]
    assert row(page, crashed).locator(".num").text_content() == "–"
    root = row(page, grove.root)
    assert root.locator(".roll").get_attribute("title") == "below: 1 tool error"
    assert "below: 1 tool error" in (root.get_attribute("aria-label") or "")


@pytest.mark.django_db(transaction=True)
def test_the_tree_is_walked_by_keyboard_alone(page: Page, site: Site) -> None:
    grove = Grove()
    first = grove.grown("first", "", NodeStatus.OK)
    grove.add("below", parent=first)
    grove.grown("second", "", NodeStatus.CONTRACT_FAILED)
    open_run(page, site, grove)
    page.locator("[role=tree]").focus()
    walk = [
        ("ArrowDown", "first"),
        ("ArrowRight", "below"),
        ("ArrowLeft", "first"),
        ("End", "second"),
        ("Home", "root"),
        ("n", "second"),
        ("ArrowUp", "below"),
        ("s", "second"),  # by its first letter
    ]
    for key, expected in walk:
        page.keyboard.press(key)
        wait_until(lambda expected=expected: active_role(page) == expected, what=f"{key} to move")
    page.keyboard.press("Enter")
    page.locator("#panel h2", has_text="second").wait_for()
    assert "node=" in page.url
    page.keyboard.press("Escape")
    page.locator("#panel").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "tree"
    page.keyboard.press("[")
    wait_until(lambda: shown_roles(page) == ["root", "first", "second"], what="all to fold")
    page.keyboard.press("]")
    wait_until(lambda: len(shown_roles(page)) == 4, what="all to unfold")
    page.keyboard.press("/")
    page.keyboard.type("below")
    wait_until(lambda: shown_roles(page) == ["root", "first", "below"], what="the search to work")
    page.keyboard.press("Enter")
    wait_until(lambda: active_role(page) == "below", what="the first match to be chosen")
    page.keyboard.press("?")
    page.locator("dialog#keys[open]").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog#keys[open]").wait_for(state="detached")
    assert page.complaints == []


@pytest.mark.django_db(transaction=True)
def test_rows_have_what_the_tree_pattern_asks_for(page: Page, site: Site) -> None:
    grove = Grove()
    first = grove.grown("first", "", NodeStatus.OK)
    second = grove.grown("second", "", NodeStatus.OK)
    below = grove.add("below", parent=first)
    open_run(page, site, grove, f"?node={second.pk}")

    def told(node) -> list[str | None]:
        names = ("aria-level", "aria-posinset", "aria-setsize", "aria-expanded", "aria-selected")
        return [row(page, node).get_attribute(name) for name in names]

    assert told(grove.root) == ["1", "1", "1", "true", "false"]
    assert told(first) == ["2", "1", "2", "true", "false"]
    assert told(second) == ["2", "2", "2", None, "true"]
    assert told(below) == ["3", "1", "1", None, "false"]


@pytest.mark.django_db(transaction=True)
def test_folds_selection_cursor_filter_and_typed_text_survive_live_rows(
    page: Page, site: Site
) -> None:
    grove = Grove()
    first = grove.grown("first", "", NodeStatus.OK)
    grove.add("below", parent=first)
    second = grove.grown("second", "", NodeStatus.RUNNING)
    open_run(page, site, grove, f"?node={first.pk}")
    wait_until(lambda: live_state(page) == "live", what="the page to be live")
    page.locator("[role=tree]").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")  # folds "first"
    wait_until(lambda: "below" not in shown_roles(page), what="the fold")
    page.locator("#find").fill("half typ")
    page.locator("#find").fill("")
    page.locator("#find").focus()
    grove.add("third")
    grove.move(second, NodeStatus.OK)
    wait_until(lambda: shown_seq(page) == grove.seq, what="the page to have every event")
    wait_until(lambda: "third" in shown_roles(page), what="the new row")
    assert "below" not in shown_roles(page)
    assert row(page, first).get_attribute("aria-selected") == "true"
    assert active_role(page) == "first"
    assert page.evaluate("document.activeElement.id") == "find"
    assert row(page, second).locator(".word").text_content() == "ok"
    assert page.complaints == []


@pytest.mark.django_db(transaction=True)
def test_chips_count_by_class_and_filter_with_what_stands_above(page: Page, site: Site) -> None:
    grove = Grove()
    for status in (NodeStatus.TOOL_ERROR, NodeStatus.LOST, NodeStatus.OK, NodeStatus.TIMEOUT):
        grove.grown(status, "", status)
    open_run(page, site, grove)
    crashed = page.locator("[data-group=crashed]")
    assert crashed.text_content() == "crashed 2"
    assert crashed.get_attribute("title") == "1 tool error, 1 lost", "the words of the rows"
    assert not page.locator("[data-group=stopped]").is_visible()
    crashed.click()
    wait_until(lambda: shown_roles(page) == ["root", "tool_error", "lost"], what="the filter")
    assert page.url.endswith("?show=crashed")
    page.reload()
    wait_until(lambda: shown_roles(page) == ["root", "tool_error", "lost"], what="it in the URL")
    page.locator("#find").fill("nothing like this")
    page.get_by_text("No node matches “nothing like this” and crashed.").wait_for()
    page.get_by_role("button", name="Show all nodes").click()
    wait_until(lambda: len(shown_roles(page)) == 5, what="everything to be back")
    assert page.url.endswith(grove.path)
