"""The list of runs, the page for a new one, and what all pages share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import sign_in
from tests.browser.driving import open_run
from tests.browser.trees import Grove, person_with, recovered
from tests.waiting import wait_until
from verifier.lifecycle import NodeStatus

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

    from tests.browser.conftest import Site

SPEC = """goal: Count the lines
branches:
  - role: counter
    task_brief: Count them.
    worker: {kind: command, argv: [wc, -l]}
"""


def goals(page: Page) -> list[str]:
    return page.locator("#runs .goal").all_text_contents()


def ended(goal: str, status: NodeStatus) -> Grove:
    grove = Grove(goal)
    grove.move(grove.root, status)
    return grove


@pytest.mark.django_db(transaction=True)
def test_the_list_is_filtered_by_its_address(page: Page, site: Site) -> None:
    ended("release the notes", NodeStatus.OK)
    ended("release the parser", NodeStatus.CONTRACT_FAILED)
    ended("count lines", NodeStatus.OK)
    page.goto(f"{site.url}/runs/")
    assert goals(page) == ["count lines", "release the parser", "release the notes"]
    page.locator("nav.chips a", has_text="contract failed").click()
    page.wait_for_url("**/runs/?status=contract_failed")
    assert goals(page) == ["release the parser"]
    page.locator("nav.chips a", has_text="contract failed").click()
    page.wait_for_url("**/runs/")
    page.keyboard.press("/")
    page.keyboard.type("release")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/?q=release")
    assert goals(page) == ["release the parser", "release the notes"]
    page.goto(f"{site.url}/runs/?q=nowhere&status=lost")
    page.get_by_role("heading", name="No run matches").wait_for()
    page.get_by_role("link", name="Show all runs").click()
    page.wait_for_url("**/runs/")
    assert len(goals(page)) == 3


@pytest.mark.django_db(transaction=True)
def test_an_empty_list_says_what_a_run_is(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/runs/")
    page.get_by_role("heading", name="No runs yet").wait_for()
    page.get_by_role("link", name="Write the first one").click()
    page.wait_for_url("**/runs/new/")


@pytest.mark.django_db(transaction=True)
def test_the_list_is_walked_by_keyboard_and_tells_of_failures(page: Page, site: Site) -> None:
    ended("older", NodeStatus.OK)
    newer = Grove("newer")
    newer.grown("code", "", NodeStatus.TOOL_ERROR)
    page.goto(f"{site.url}/runs/")
    assert page.locator("#runs li").first.locator(".classes").inner_text() == "1 tool error"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{newer.path}")


@pytest.mark.django_db(transaction=True)
def test_new_runs_are_announced_and_shown_rows_keep_up(page: Page, site: Site) -> None:
    shown = Grove("shown")
    page.goto(f"{site.url}/runs/")
    page.keyboard.press("ArrowDown")
    ended("came later", NodeStatus.OK)
    shown.move(shown.root, NodeStatus.CONTRACT_FAILED)
    page.get_by_role("link", name="1 new run").wait_for()
    page.locator("#runs li .s", has_text="contract failed").first.wait_for()
    assert goals(page) == ["shown"], "rows do not move under the reader"
    assert page.evaluate("document.activeElement.textContent") == "shown"
    page.get_by_role("link", name="1 new run").click()
    wait_until(lambda: goals(page) == ["came later", "shown"], what="the newer list")


@pytest.mark.django_db(transaction=True)
def test_pages_follow_a_cursor(page: Page, site: Site) -> None:
    for n in range(52):
        Grove(f"run {n}")
    page.goto(f"{site.url}/runs/")
    assert len(goals(page)) == 50
    page.get_by_role("link", name="Older runs").click()
    wait_until(lambda: goals(page) == ["run 1", "run 0"], what="the last page")
    page.get_by_role("link", name="Newest").click()
    wait_until(lambda: len(goals(page)) == 50, what="the first page")


@pytest.mark.django_db(transaction=True)
def test_problems_of_a_spec_are_named_by_path_and_nothing_typed_is_lost(
    page: Page, site: Site
) -> None:
    page.goto(f"{site.url}/runs/new/")
    typed = SPEC.replace("role: counter", "rolle: counter") + "# my own words\n"
    page.locator("#spec").fill(typed)
    page.get_by_role("button", name="Start the run").click()
    page.locator("#problems").wait_for()
    assert "branches[0]" in page.locator("#problems").inner_text()
    assert page.locator("#spec").input_value() == typed
    page.goto(f"{site.url}/runs/")
    page.goto(f"{site.url}/runs/new/")
    page.get_by_text("Your unsent text is back.").wait_for()
    assert page.locator("#spec").input_value() == typed


@pytest.mark.django_db(transaction=True)
def test_an_example_never_replaces_ones_own_text_for_good(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/runs/new/")
    page.locator("#spec").fill("goal: mine\n")
    page.locator("[data-example=notes]").click()
    assert "branches:" in page.locator("#spec").input_value()
    page.get_by_role("button", name="Undo").click()
    assert page.locator("#spec").input_value() == "goal: mine\n"
    assert page.complaints == []  # type: ignore[attr-defined]


@pytest.mark.django_db(transaction=True)
def test_a_spec_that_fits_starts_one_run_however_often_it_is_sent(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/runs/new/")
    page.locator("#spec").fill(SPEC)
    page.locator("#new-run").evaluate(
        "form => { const sent = new FormData(form); for (let i = 0; i < 2; i += 1)"
        " fetch(form.action || location.href, {method: 'POST', body: sent}); }"
    )
    page.get_by_role("button", name="Start the run").click()
    page.locator("[role=treeitem]").first.wait_for()
    assert page.locator("h1").inner_text() == "Count the lines"
    page.goto(f"{site.url}/runs/new/")
    assert page.locator("#spec").input_value() == "", "what was sent is no draft any more"
    page.goto(f"{site.url}/runs/")
    assert goals(page) == ["Count the lines"]


@pytest.mark.django_db(transaction=True)
def test_who_may_not_start_runs_is_not_offered_it(
    page: Page, browser_context: BrowserContext, site: Site
) -> None:
    sign_in(browser_context, site, person_with("viewer", "eve"))
    page.goto(f"{site.url}/runs/")
    assert page.get_by_role("link", name="New run").count() == 0
    answer = page.goto(f"{site.url}/runs/new/")
    assert answer is not None
    assert answer.status == 403
    page.get_by_role("heading", name="Not allowed").wait_for()


@pytest.mark.django_db(transaction=True)
def test_what_is_not_there_has_its_own_page(page: Page, site: Site) -> None:
    answer = page.goto(f"{site.url}/runs/00000000-0000-0000-0000-000000000000/")
    assert answer is not None
    assert answer.status == 404
    page.get_by_role("heading", name="Nothing here").wait_for()


@pytest.mark.django_db(transaction=True)
def test_the_theme_is_remembered_and_set_before_the_first_paint(page: Page, site: Site) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{site.url}/runs/")
    page.get_by_label("Theme").first.click()
    page.get_by_role("menuitemradio", name="Dark").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.add_init_script(
        "document.addEventListener('DOMContentLoaded', () =>"
        " window.themeAtStart = document.documentElement.dataset.theme);"
        "new MutationObserver(() => { if (document.body && window.first === undefined)"
        " window.first = document.documentElement.dataset.theme ?? 'none'; })"
        ".observe(document, {childList: true, subtree: true});"
    )
    page.reload()
    assert page.evaluate("window.first") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.get_by_label("Theme").first.click()
    page.get_by_role("menuitemradio", name="As the system").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    assert page.evaluate("localStorage.length") == 0
    assert page.complaints == []  # type: ignore[attr-defined]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [360, 768, 1440, 2560])
def test_no_page_scrolls_sideways(page: Page, site: Site, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    grove = Grove("Write " + "a_very_long_word_without_any_space_" * 8)
    node = recovered(grove)
    grove.grown("r" * 80, "t" * 80, NodeStatus.CONCURRENCY_LIMIT, marks=("receipt_mismatch",))
    addresses = ["/runs/", "/runs/new/", f"{grove.path}outline/"]
    addresses += [f"{grove.path}?node={node.pk}&tab={tab}" for tab in ("brief", "events")]
    for address in addresses:
        page.goto(f"{site.url}{address}")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{address} is {wide} px wide"
    assert page.complaints == []  # type: ignore[attr-defined]


@pytest.mark.django_db(transaction=True)
def test_a_run_says_that_nothing_was_verified(page: Page, site: Site) -> None:
    open_run(page, site, Grove())
    tiles: Any = dict(
        zip(
            page.locator(".tile h2").all_text_contents(),
            page.locator(".tile .value, .tile .classes").all_inner_texts(),
            strict=True,
        )
    )
    assert tiles["Goal"] == "not verified"
    assert tiles["Claims"] == "none checked"


@pytest.mark.django_db(transaction=True)
def test_without_scripts_the_tree_is_a_plain_list(
    browser_context: BrowserContext, site: Site, person: Any
) -> None:
    grove = Grove()
    recovered(grove)
    plain = browser_context.browser.new_context(java_script_enabled=False)  # type: ignore[union-attr]
    sign_in(plain, site, person)
    page = plain.new_page()
    page.goto(f"{site.url}{grove.path}")
    page.get_by_role("link", name="Read the plain outline of this run.").click()
    text = page.locator(".outline ol").inner_text()
    assert "writing docs" in text
    assert "2 attempts" in text
    plain.close()
