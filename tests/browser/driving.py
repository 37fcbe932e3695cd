"""What the tests say to a run page, in its own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.browser.trees import Grove

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import Site


def open_run(page: Page, site: Site, grove: Grove, query: str = "") -> None:
    """The run's page, once its tree is drawn."""
    page.goto(f"{site.url}{grove.path}{query}")
    page.locator("[role=treeitem]").first.wait_for()


def row(page: Page, node: Any) -> Locator:
    return page.locator(f"#node-{node.pk}")


def shown_roles(page: Page) -> list[str]:
    """The roles of the rows in sight, from top to bottom."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".row:not([hidden])")]
             .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
             .map((row) => row.querySelector(".role").textContent)"""
    )


def active_role(page: Page) -> str:
    """The role of the row that has the cursor, as assistive technology is told."""
    return page.evaluate(
        """() => {
          const id = document.querySelector("[role=tree]").getAttribute("aria-activedescendant");
          return document.getElementById(id)?.querySelector(".role").textContent ?? "";
        }"""
    )


def live_state(page: Page) -> str:
    return page.locator("#live").get_attribute("data-live-state") or ""


def shown_seq(page: Page) -> int:
    return int(page.locator("#live").get_attribute("data-seq") or -1)
