"""The marks of a row: what is being mended stays in sight, and the topic gives way first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.driving import open_run, row
from tests.browser.trees import Grove, Told, recovered
from tests.waiting import wait_until
from verifier.lifecycle import NodeStatus

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Site


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (NodeStatus.CONTRACT_FAILED, "contract failed"),
        (NodeStatus.PROVIDER_ERROR, "provider error"),
        (NodeStatus.LOST, "lost"),
    ],
)
def test_a_failure_stays_in_sight_while_it_is_mended(
    page: Page, site: Site, outcome: NodeStatus, word: str
) -> None:
    grove = Grove()
    node = grove.grown("writing", "docs", NodeStatus.RUNNING)
    open_run(page, site, grove)
    mark = row(page, node).locator(".mark")
    assert mark.count() == 0

    grove.attempt(node, 1, Told(outcome=outcome))
    grove.move(node, NodeStatus.QUEUED, attempt=1, outcome=outcome)
    mark.locator(f"text={word}, attempt 2").wait_for()
    assert mark.get_attribute("data-status") == outcome
    assert mark.locator("use").get_attribute("href") == f"#i-{outcome}"
    assert row(page, node).locator(".s .word").text_content() == "queued"

    grove.attempt(node, 2, Told(outcome=None))
    grove.move(node, NodeStatus.RUNNING, attempt=2)
    row(page, node).locator(".s .word", has_text="running").wait_for()
    assert mark.text_content() == f"{word}, attempt 2"
    assert f"{word}, attempt 2" in (row(page, node).get_attribute("aria-label") or "")
    assert page.complaints == []


@pytest.mark.django_db(transaction=True)
def test_what_was_mended_says_only_which_attempt_stands(page: Page, site: Site) -> None:
    grove = Grove()
    node = recovered(grove)
    open_run(page, site, grove)
    mark = row(page, node).locator(".mark")
    assert mark.text_content() == "attempt 2 of 2"
    assert (mark.get_attribute("data-status"), mark.locator("svg").count()) == ("ok", 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("width", "panel"), [(1440, True), (1440, False), (1000, True), (360, False)]
)
def test_no_mark_is_cut_while_the_topic_is_whole(
    page: Page, site: Site, width: int, panel: bool
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    grove = Grove()
    topic = "a topic of more words than a row has room for, even where it is a wide one"
    node = grove.add("writing", topic)
    for number in (1, 2):
        grove.attempt(node, number, Told(outcome=NodeStatus.OK))
    grove.move(node, NodeStatus.OK, chosen_attempt=2, marks=("receipt_mismatch",))
    open_run(page, site, grove, f"?node={grove.root.pk}" if panel else "")
    wait_until(lambda: row(page, node).locator(".mark").count() == 2, what="the marks")
    cut = (
        row(page, node)
        .locator(".marks")
        .evaluate(
            """marks => [...marks.querySelectorAll(".mark, .words")].filter((one) =>
             one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0).length"""
        )
    )
    assert cut == 0
    title = row(page, node).locator(".title")
    role = row(page, node).locator(".role")
    assert role.evaluate("one => one.scrollWidth <= one.clientWidth"), "the role is whole too"
    assert title.evaluate("one => one.scrollWidth > one.clientWidth")
    assert title.evaluate("one => one.clientWidth") > 12
