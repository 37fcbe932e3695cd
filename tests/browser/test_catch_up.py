"""The page survives a lost socket and a killed server: it says so, and catches up by itself.

A real `swarmui up`, a real run, a real Chromium, and nobody presses reload.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.browser.cable import Cable
from tests.browser.driving import live_state, shown_seq
from tests.support.installation import Installation, embedded_installation
from tests.support.sources import ROOT
from tests.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

SPEC = yaml.safe_load((ROOT / "examples/notes/spec.yaml").read_text())
MARK = "window.neverReloaded"
ROWS = """() => [...document.querySelectorAll("[role=treeitem]:not([hidden])")]
  .map((row) => [row.dataset.id, row.querySelector(".s").dataset.status])"""

pytestmark = pytest.mark.timeout(240)


class Scene:
    """A person in front of the page of a run that has just begun."""

    def __init__(self, installation: Installation, cable: Cable, page: Page) -> None:
        self.installation, self.cable, self.page = installation, cable, page
        page.goto(cable.url + installation.sign_in_link())
        page.get_by_role("button").first.click()
        page.wait_for_url(f"{cable.url}/runs/**")
        self.run_id = self._start()
        page.goto(f"{cable.url}/runs/{self.run_id}/")
        page.locator("[role=treeitem]").first.wait_for()
        page.evaluate(f"{MARK} = true")

    def _start(self) -> str:
        answer = self.installation.post("/api/v1/runs", SPEC)
        assert answer.status == 201, answer.text
        return str(answer.json()["id"])

    def wait_for_state(self, *states: str, timeout: float = 20) -> None:
        wait_until(
            lambda: live_state(self.page) in states,
            timeout,
            what=f"the page to say {states}, it says {live_state(self.page)!r}",
        )

    def wait_for_some_work(self) -> None:
        """The run is in its middle: something has moved since the page was opened."""
        begun = shown_seq(self.page)
        wait_until(lambda: shown_seq(self.page) > begun + 2, 30, what="the page to move")

    def tree(self) -> dict[str, Any]:
        answer = self.installation.get(f"/api/v1/runs/{self.run_id}/tree", role="viewer")
        skeleton: dict[str, Any] = answer.json()
        return skeleton

    def assert_everything_is_shown(self) -> None:
        """Every row the server has, with the status it has, on the very page that was opened."""
        expected = self.tree()
        wait_until(lambda: shown_seq(self.page) == expected["seq"], 10)
        assert self.page.evaluate(MARK), "the page was loaded again"
        shown = wait_until(lambda: self.page.evaluate(ROWS))
        assert sorted(shown) == sorted([row[0], row[8]] for row in expected["rows"])


@pytest.fixture
def slow_enough(tmp_path: Path) -> Iterator[Installation]:
    """Its recorded models think long enough to lose the network in between."""
    home = tmp_path / "home"
    with embedded_installation(home, SWARMUI_RECORDED_DELAY_SCALE="0.6") as installation:
        yield installation


@pytest.fixture
def scene(slow_enough: Installation, browser_context: BrowserContext) -> Iterator[Scene]:
    cable = Cable(slow_enough.port)
    yield Scene(slow_enough, cable, browser_context.new_page())
    cable.close()


def test_a_page_whose_socket_is_killed_says_so_and_catches_up(scene: Scene) -> None:
    scene.wait_for_state("live")
    scene.wait_for_some_work()
    scene.cable.cut()
    scene.wait_for_state("stale")
    seen = shown_seq(scene.page)
    wait_until(lambda: scene.tree()["seq"] > seen + 2, 30, what="the run to go on without it")
    assert live_state(scene.page) == "stale"
    assert shown_seq(scene.page) == seen
    scene.cable.mend()
    scene.wait_for_state("live", "final")
    scene.wait_for_state("final", timeout=60)
    scene.assert_everything_is_shown()


def test_a_socket_lost_again_and_again_costs_no_row(scene: Scene) -> None:
    for _ in range(4):
        scene.wait_for_state("live", "final")
        scene.cable.cut()
        scene.wait_for_state("stale", "final")
        scene.cable.mend()
    scene.wait_for_state("final", timeout=60)
    scene.assert_everything_is_shown()


def test_a_server_killed_in_mid_run_is_missed_and_then_caught_up_with(scene: Scene) -> None:
    scene.wait_for_state("live")
    scene.wait_for_some_work()
    server = scene.installation["server"]
    os.kill(server.pid, signal.SIGKILL)
    scene.wait_for_state("stale")
    wait_until(lambda: not server.is_running)
    server.start()
    scene.installation.wait_ready()
    scene.wait_for_state("live", "final", timeout=30)
    # What was running when it died is settled when its lease has run out: 30 s.
    scene.wait_for_state("final", timeout=90)
    scene.assert_everything_is_shown()
    assert "Traceback" not in server.log()
