"""Ten thousand nodes: a small document, quick to paint, and not blocked by a thousand updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from tests.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Site

NODES = 10_000
MOST_ROWS = 150

# Times of this page alone: when the tree's answer was there, when its rows were painted, and the
# longest task since. The tree's socket is kept at hand, to push frames into it.
MEASURE = """
window.measured = {long: 0};
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) measured.long = Math.max(measured.long, entry.duration);
}).observe({type: "longtask"});
const json = Response.prototype.json;
Response.prototype.json = async function () {
  const isTree = this.url.endsWith("/tree");
  const text = await this.text();
  if (isTree) measured.answered = performance.now();
  return JSON.parse(text);
};
new MutationObserver(() => {
  if (measured.painted || !document.querySelector(".row .role")?.textContent) return;
  measured.painted = -1;
  requestAnimationFrame(() => requestAnimationFrame(() => measured.painted = performance.now()));
}).observe(document, {subtree: true, childList: true, characterData: true});
const Plain = window.WebSocket;
window.WebSocket = class extends Plain { constructor(url) { super(url); measured.socket = this; } };
"""

# A thousand frames of one row each, spread over one second.
STORM = """async () => {
  const api = location.pathname.replace("/runs/", "/api/v1/runs/");
  const tree = await (await fetch(`${api}tree`)).json();
  const words = ["ok", "running", "tool_error", "contract_failed"];
  let sent = 0, seq = tree.seq;
  measured.long = 0;
  const started = performance.now();
  while (sent < 1000) {
    await new Promise((next) => setTimeout(next, 4));
    const due = Math.min(1000, performance.now() - started);
    for (; sent < due; sent += 1) {
      const row = [...tree.rows[(sent * 7) % tree.rows.length]];
      row[8] = words[sent % 4];
      row[10] = sent;
      const frame = {type: "rows", from: seq, to: ++seq, rows: [row]};
      measured.socket.dispatchEvent(new MessageEvent("message", {data: JSON.stringify(frame)}));
    }
  }
  await new Promise((next) => setTimeout(next, 300));
  return {longest: measured.long, seq};
}"""


@pytest.mark.django_db(transaction=True)
def test_ten_thousand_nodes_stay_light(page: Page, site: Site) -> None:
    from swarmui.management.seeding.invent import invent
    from swarmui.management.seeding.store import store

    run = store(invent(NODES, timezone.now(), seed=3))
    page.add_init_script(MEASURE)
    page.goto(f"{site.url}/runs/{run.pk}/")
    page.wait_for_function("() => measured.painted > 0")
    waited = page.evaluate("measured.painted - measured.answered")
    assert waited <= 1000, f"first paint {waited:.0f} ms after the answer"
    rows = page.locator(".row")
    assert 10 < rows.count() <= MOST_ROWS

    for where in (0.5, 1, 0.2):
        page.evaluate(
            "(part) => { const box = document.querySelector('.scroller');"
            " box.scrollTop = box.scrollHeight * part; }",
            where,
        )
        page.wait_for_function(
            """() => {
              const box = document.querySelector(".scroller").getBoundingClientRect();
              const middle = document.elementFromPoint(box.left + 80, box.top + box.height / 2);
              return middle?.closest(".row") !== null;
            }"""
        )
        assert rows.count() <= MOST_ROWS

    storm = page.evaluate(STORM)
    wait_until(
        lambda: page.locator("#live").get_attribute("data-seq") == str(storm["seq"]),
        what="every update to be taken",
    )
    assert storm["longest"] <= 100, f"the page was blocked for {storm['longest']:.0f} ms"
    assert rows.count() <= MOST_ROWS
    page.set_viewport_size({"width": 2560, "height": 5000})
    page.wait_for_function("() => document.querySelectorAll('.row').length > 100")
    assert rows.count() <= MOST_ROWS
    assert page.complaints == []  # type: ignore[attr-defined]
