"""What stands around the runs: hints, examples, the way in; nothing jumps, nothing is cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from swarmui.services.sign_in import issue_link
from swarmui.views.start_run import examples
from tests.browser.driving import open_run
from tests.browser.trees import Grove
from verifier.lifecycle import NodeStatus

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Site


def test_examples_tell_their_goal_and_what_they_need() -> None:
    offered = {one.name: one for one in examples()}
    assert offered["notes"].goal.startswith("Make notekeeper 2.4 ready to ship")
    assert offered["notes"].needs.startswith("5 branches · a recorded model, no key needed")
    assert "runs python -m pytest and ruff, to be installed" in offered["selfcheck"].needs


@pytest.mark.django_db(transaction=True)
def test_an_example_s_card_repeats_no_comment_of_its_file(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/runs/new/")
    said = page.locator("aside").inner_text()
    assert "Make notekeeper 2.4 ready to ship" in said
    assert "beside this file" not in said
    assert "swarmui run" not in said


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [360, 1440])
def test_news_move_no_row_and_cover_no_heading(page: Page, site: Site, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    Grove("shown")
    page.goto(f"{site.url}/runs/")
    before = page.locator("#runs li").first.bounding_box()
    Grove("came later")
    pill = page.get_by_role("link", name="1 new run")
    pill.wait_for()
    assert page.locator("#runs li").first.bounding_box() == before
    shown = pill.bounding_box()
    assert shown is not None
    for other in (".list-bar", ".list-head h1", ".list-head .button"):
        box = page.locator(other).bounding_box()
        assert box is not None
        apart = (
            shown["y"] + shown["height"] <= box["y"]
            or shown["x"] + shown["width"] <= box["x"]
            or box["x"] + box["width"] <= shown["x"]
        )
        assert apart, f"the pill lies on {other}"


@pytest.mark.django_db(transaction=True)
def test_a_status_there_is_not_is_named_instead_of_being_ignored(page: Page, site: Site) -> None:
    Grove("shown")
    page.goto(f"{site.url}/runs/?status=bogus")
    page.get_by_text("There is no status “bogus”: nothing is filtered by it.").wait_for()
    page.goto(f"{site.url}/runs/?status={NodeStatus.OK}")
    assert page.get_by_text("There is no status").count() == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("width", "is_offered"), [(360, True), (1440, False)])
def test_a_goal_that_a_phone_cuts_can_be_opened_there(
    page: Page, site: Site, width: int, is_offered: bool
) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    open_run(page, site, Grove("Write the release notes of this version " * 5))
    assert page.get_by_text("the whole goal").is_visible() == is_offered


@pytest.mark.django_db(transaction=True)
def test_the_door_says_how_one_gets_in_without_a_password(page: Page, site: Site) -> None:
    page.context.clear_cookies()
    page.goto(f"{site.url}/")
    said = page.locator(".door").inner_text()
    assert "one-time link" in said
    assert "swarmui sign_in_link" in said


@pytest.mark.django_db(transaction=True)
def test_a_link_that_is_worth_nothing_says_where_a_new_one_is_printed(
    page: Page, site: Site
) -> None:
    page.context.clear_cookies()
    link = issue_link()
    page.goto(f"{site.url}{link}")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/runs/")
    page.context.clear_cookies()
    for address in (link, f"{link.rstrip('/')[:-4]}zzzz/"):
        page.goto(f"{site.url}{address}")
        assert "swarmui sign_in_link" in page.locator(".door").inner_text()
