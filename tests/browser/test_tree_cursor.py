"""The cursor of the tree: reached from anywhere, followed by the panel, never lost on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.driving import active_role, open_run, row
from tests.browser.trees import Grove
from tests.waiting import wait_until
from verifier.lifecycle import NodeStatus

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Site


def focus_on(page: Page) -> str:
    return page.evaluate(
        "document.activeElement.getAttribute('role') || document.activeElement.id"
        " || document.activeElement.tagName.toLowerCase()"
    )


@pytest.fixture
def grove(transactional_db: None) -> Grove:
    grove = Grove()
    for role in ("first", "second", "third"):
        grove.grown(role, "", NodeStatus.OK)
    return grove


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("key", "role"), [("ArrowDown", "first"), ("End", "third")])
def test_a_fresh_page_takes_the_keys_of_the_tree(
    page: Page, site: Site, grove: Grove, key: str, role: str
) -> None:
    open_run(page, site, grove)
    assert focus_on(page) == "body"
    page.keyboard.press(key)
    wait_until(lambda: active_role(page) == role, what="the cursor to move")
    assert focus_on(page) == "tree"


@pytest.mark.django_db(transaction=True)
def test_the_panel_follows_the_cursor_and_a_second_enter_goes_into_it(
    page: Page, site: Site, grove: Grove
) -> None:
    open_run(page, site, grove)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("#panel h2", has_text="first").wait_for()
    assert focus_on(page) == "tree"
    steps = page.evaluate("history.length")
    page.keyboard.press("ArrowDown")
    page.locator("#panel h2", has_text="second").wait_for()
    page.keyboard.press("ArrowDown")
    page.locator("#panel h2", has_text="third").wait_for()
    assert page.evaluate("history.length") == steps, "a cursor on its way is no step to go back to"
    page.keyboard.press("Enter")
    wait_until(lambda: focus_on(page) == "panel", what="the focus to go into the panel")
    outline = page.locator("#panel").evaluate("one => getComputedStyle(one).outlineStyle")
    assert outline == "solid", "where the focus is can be seen"
    page.keyboard.press("Escape")
    page.locator("#panel").wait_for(state="hidden")
    assert focus_on(page) == "tree"
    assert page.complaints == []


@pytest.mark.django_db(transaction=True)
def test_after_a_click_the_arrows_walk_on(page: Page, site: Site, grove: Grove) -> None:
    open_run(page, site, grove)
    row_of_first = page.locator(".row", has_text="first")
    row_of_first.click()
    page.locator("#panel h2", has_text="first").wait_for()
    page.keyboard.press("ArrowDown")
    page.locator("#panel h2", has_text="second").wait_for()


@pytest.mark.django_db(transaction=True)
def test_a_panel_that_cannot_be_fetched_keeps_its_title_its_way_out_and_a_way_on(
    page: Page, site: Site
) -> None:
    grove = Grove()
    first, second = (grove.grown(role, "docs", NodeStatus.OK) for role in ("first", "second"))
    open_run(page, site, grove)
    row(page, first).click()
    page.locator("#panel h2", has_text="first").wait_for()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route("**/nodes/**", lambda route: route.abort())
    row(page, second).click()
    page.get_by_text("The server did not answer.").wait_for()
    assert page.locator("#panel h2").inner_text() == "second docs"
    page.unroute("**/nodes/**")
    page.get_by_role("button", name="Try again").click()
    page.locator("#tab-output").wait_for()
    assert page.locator("#panel h2").inner_text() == "second docs"
    page.route("**/nodes/**", lambda route: route.abort())
    row(page, first).click()
    page.get_by_text("The server did not answer.").wait_for()
    page.get_by_role("link", name="Close the node").click()
    page.locator("#panel").wait_for(state="hidden")
    assert errors == []
