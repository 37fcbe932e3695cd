"""A page in a real Chromium, and what the browser complained about."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.chromium import FLAGS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

#: Longest wait of one browser step; two busy cores.
STEP_MS = 15_000


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Browser]:
    """One Chromium for the whole run; contexts keep tests apart."""
    from playwright.sync_api import sync_playwright

    # Playwright's loop lives in the test's thread; Django's guard takes that for async code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def browser_context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile: no cookies, no cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(STEP_MS)
    yield context
    context.close()


@pytest.fixture
def page(browser_context: BrowserContext) -> Page:
    """A page whose console errors and page errors are kept in `page.complaints`."""
    page = browser_context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on(
        "console",
        lambda message: (
            complaints.append(f"console: {message.text}") if message.type == "error" else None
        ),
    )
    page.complaints = complaints  # type: ignore[attr-defined]
    return page
