"""The node panel: tabs, deep links, back and forward, refresh in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from swarmui.views.node_parts import TABS
from tests.browser.driving import open_run, row, shown_seq
from tests.browser.trees import Grove, Told, recovered
from tests.waiting import wait_until
from verifier.lifecycle import NodeStatus
from verifier.receipt import SideEffects

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Site


def tab_text(page: Page) -> str:
    return page.locator("#tab-body").inner_text()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("tab", "says"),
    [
        ("brief", "Second brief, with the failures before it"),
        ("output", '"title": "2.4"'),
        ("receipt", "2 touched on disk"),
        ("gates", "passed"),
        ("attempts", "Attempt 2 stands: it passed every gate."),
        ("trajectory", "filesystem__write_file"),
        ("events", "result"),
    ],
)
def test_a_deep_link_opens_a_node_at_a_tab(page: Page, site: Site, tab: str, says: str) -> None:
    grove = Grove()
    node = recovered(grove)
    open_run(page, site, grove, f"?node={node.pk}&tab={tab}")
    assert says in tab_text(page)
    assert page.locator("[role=tab][aria-selected=true]").get_attribute("id") == f"tab-{tab}"
    assert row(page, node).get_attribute("aria-selected") == "true"
    assert page.complaints == []


def test_the_tabs_are_the_promised_ones() -> None:
    assert list(TABS) == [
        "brief", "output", "receipt", "gates", "attempts", "trajectory", "events",
    ]  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_an_attempt_is_part_of_the_link_and_both_stand_side_by_side(page: Page, site: Site) -> None:
    grove = Grove()
    node = recovered(grove)
    open_run(page, site, grove, f"?node={node.pk}&tab=gates&attempt=1")
    assert "missing required keys: body" in tab_text(page)
    assert "not evaluated" in tab_text(page)
    page.locator("#tab-attempts").click()
    page.locator(".card").nth(1).wait_for()
    words = page.locator(".card header .word").all_text_contents()
    assert words == ["contract failed", "ok"]
    assert page.locator(".card.chosen header .word").text_content() == "ok"


@pytest.mark.django_db(transaction=True)
def test_back_and_forward_walk_through_what_was_opened(page: Page, site: Site) -> None:
    grove = Grove()
    first, second = (grove.grown(role, "", NodeStatus.OK) for role in ("first", "second"))
    open_run(page, site, grove)
    row(page, first).click()
    page.locator("#panel h2", has_text="first").wait_for()
    page.locator("#tab-events").click()
    page.locator("#tab-body table.log").wait_for()
    row(page, second).click()
    page.locator("#panel h2", has_text="second").wait_for()
    assert page.locator("#tab-events").get_attribute("aria-selected") == "true", "the tab is kept"
    page.go_back()
    page.locator("#panel h2", has_text="first").wait_for()
    assert row(page, first).get_attribute("aria-selected") == "true"
    page.go_back()
    page.locator("#tab-output[aria-selected=true]").wait_for()
    page.go_back()
    page.locator("#panel").wait_for(state="hidden")
    page.go_forward()
    page.locator("#panel h2", has_text="first").wait_for()
    page.reload()
    page.locator("#panel h2", has_text="first").wait_for()
    assert page.complaints == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("asked", ["not-a-uuid", "00000000-0000-0000-0000-000000000000"])
def test_a_link_to_no_node_says_so_and_leads_back(page: Page, site: Site, asked: str) -> None:
    grove = Grove()
    open_run(page, site, grove, f"?node={asked}")
    page.get_by_text("There is no such node in this run.").wait_for()
    page.get_by_role("link", name="Back to the tree").click()
    page.locator("#panel").wait_for(state="hidden")


@pytest.mark.django_db(transaction=True)
def test_the_panel_follows_its_node_and_keeps_tab_and_opened_entries(
    page: Page, site: Site
) -> None:
    grove = Grove()
    node = grove.grown("writing", "docs", NodeStatus.RUNNING)
    steps = tuple(
        {"kind": "proposal", "tool": "filesystem__glob", "payload": {"step": n}} for n in range(60)
    )
    grove.attempt(node, 1, Told(outcome=NodeStatus.OK, steps=steps))
    open_run(page, site, grove, f"?node={node.pk}&tab=trajectory")
    page.locator(".entry summary").nth(40).click()
    page.locator("#panel").evaluate("panel => { panel.scrollTop = 700 }")
    grove.move(node, NodeStatus.OK, attempt=1, outcome=NodeStatus.OK, chosen_attempt=1)
    wait_until(lambda: shown_seq(page) == grove.seq, what="the event")
    page.locator("#panel .meta .s", has_text="ok").wait_for()
    assert page.locator("#tab-trajectory").get_attribute("aria-selected") == "true"
    assert page.locator(".entry details[open]").count() == 1
    assert page.locator("#panel").evaluate("panel => panel.scrollTop") == 700


@pytest.mark.django_db(transaction=True)
def test_what_is_unknown_is_said_and_never_zero(page: Page, site: Site) -> None:
    grove = Grove()
    node = grove.add("lint", "program")
    grove.attempt(node, 1, Told(effects=None))
    grove.move(
        node, NodeStatus.OK, chosen_attempt=1, chosen_because="only_attempt",
        marks=("evidence_unknown",),
    )  # fmt: skip
    open_run(page, site, grove, f"?node={node.pk}&tab=receipt")
    text = tab_text(page)
    assert "Unknown." in text
    assert "not measured" in text
    assert "0" not in text.replace("30 s", "")
    page.locator("#tab-attempts").click()
    page.locator(".card").wait_for()
    assert page.locator(".card").inner_text().count("unknown") == 2


@pytest.mark.django_db(transaction=True)
def test_a_known_nothing_is_a_zero(page: Page, site: Site) -> None:
    grove = Grove()
    node = grove.add("reader", "docs")
    grove.attempt(node, 1, Told(effects=SideEffects(), files=()))
    grove.move(node, NodeStatus.OK, chosen_attempt=1)
    open_run(page, site, grove, f"?node={node.pk}&tab=receipt")
    assert "0 touched on disk" in tab_text(page)


@pytest.mark.django_db(transaction=True)
def test_on_a_phone_the_panel_is_a_sheet_with_a_way_back(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    grove = Grove()
    node = grove.grown("writing", "docs", NodeStatus.OK)
    open_run(page, site, grove)
    row(page, node).click()
    page.locator("#panel h2", has_text="writing").wait_for()
    box = page.locator("#panel").bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (360, 740)
    page.locator("a.back").click()
    page.locator("#panel").wait_for(state="hidden")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
