"""A tree that gets shorter while one stands at its end: what is left is in sight, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driving import open_run, shown_roles
from tests.browser.trees import Grove
from tests.waiting import wait_until
from verifier.lifecycle import NodeStatus

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Site


def find(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("billing")


def choose_a_chip(page: Page) -> None:
    page.locator("[data-group=contract]").click()


def fold_all(page: Page) -> None:
    page.keyboard.press("[")


def by_key(page: Page) -> None:
    page.keyboard.press("End")


def by_wheel(page: Page) -> None:
    """The cursor stays at the top, out of sight."""
    page.locator(".scroller").evaluate("one => { one.scrollTop = one.scrollHeight }")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("go_down", [by_key, by_wheel])
@pytest.mark.parametrize(
    ("shrink", "left"),
    [
        (find, ["root", "branch", "billing"]),
        (choose_a_chip, ["root", "branch", "billing"]),
        (fold_all, ["root", "branch"]),
    ],
)
def test_a_tree_that_shrinks_under_the_reader_shows_what_is_left(
    page: Page,
    site: Site,
    go_down: Callable[[Page], None],
    shrink: Callable[[Page], None],
    left: list[str],
) -> None:
    grove = Grove()
    branch = grove.add("branch")
    for n in range(70):
        grove.add(f"worker-{n}", parent=branch)
    billing = grove.add("billing", parent=branch)
    grove.move(billing, NodeStatus.CONTRACT_FAILED)
    open_run(page, site, grove)
    page.locator("[role=tree]").focus()
    go_down(page)
    wait_until(lambda: "billing" in shown_roles(page), what="the end of the tree")
    shrink(page)
    wait_until(lambda: shown_roles(page) == left, what="only what is left")
    wait_until(
        lambda: page.locator(".scroller").evaluate("one => one.scrollTop") == 0,
        what="no empty room above it",
    )
    assert page.complaints == []
