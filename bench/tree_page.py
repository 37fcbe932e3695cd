"""The page of a run with 10,000 nodes: first paint, and 1,000 changes within one second.

    python -m bench.tree_page [--nodes 10000] [--changes 1000]

A real server on PostgreSQL and Redis, a real Chromium. Times are the browser's own.
"""

import argparse
import threading
import time
from typing import Any

from bench.ground import production
from bench.table import print_table
from tests.support import chromium
from tests.support.installation import Installation
from tests.waiting import wait_until

STEPS = 4  # sockets are told at most four times a second
LONG_TASK_MS = 50  # the browser reports no shorter ones
MAX_PAINT_MS, MAX_BLOCK_MS, MAX_ROWS = 1_000, 100, 150

#: Notes long tasks, the longest pause between frames, and how far the page has read.
PROBE = """
window.bench = {tasks: [], frames: 0, pause: 0, watching: false, seq: 0, rows: 0, firstRow: null};
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) bench.tasks.push([entry.startTime, entry.duration]);
}).observe({type: "longtask", buffered: true});
let last = null;
function frame(now) {
  if (bench.firstRow === null && document.querySelector("[role=treeitem]")) bench.firstRow = now;
  if (bench.watching) {
    if (last !== null) bench.pause = Math.max(bench.pause, now - last);
    bench.frames += 1;
    bench.rows = Math.max(bench.rows, document.querySelectorAll("[role=treeitem]").length);
    last = now;
  }
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
const Native = window.WebSocket;
window.WebSocket = class extends Native {
  constructor(...args) {
    super(...args);
    this.addEventListener("message", (event) => {
      const found = /"(?:to|seq)": ?([0-9]+)/.exec(String(event.data).slice(0, 200));
      if (found) bench.seq = Math.max(bench.seq, Number(found[1]));
    });
  }
};
"""
MEASURES = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return {response: page.responseEnd, paint: paint ? paint.startTime : null,
          row: bench.firstRow, rows: document.querySelectorAll("[role=treeitem]").length,
          blocked: Math.max(0, ...bench.tasks.map(([, ms]) => ms))};
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--changes", type=int, default=1_000)
    parser.add_argument("--repeat", type=int, default=3, help="page loads; the median is shown")
    options = parser.parse_args()
    with production(workers=0, sweeps=False) as installation:
        run_id = _seed(options.nodes, options.changes)
        measure(installation, run_id, options.changes, options.repeat)


def _seed(nodes: int, changes: int) -> str:
    from django.utils import timezone

    from swarmui.management.seeding.invent import invent
    from swarmui.management.seeding.store import store

    # Twice as many workers as will end are still at it, so that there is something to change.
    share = min(0.9, 3 * changes / nodes)
    run = store(invent(nodes, timezone.now(), open_share=share))
    return str(run.pk)


def measure(installation: Installation, run_id: str, changes: int, repeat: int) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.executable(), args=list(chromium.FLAGS)
        )
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        installation.sign_in(page)
        page.add_init_script(PROBE)
        loads = [_load(page, f"{installation.base_url}/runs/{run_id}/") for _ in range(repeat)]
        load = sorted(loads, key=lambda one: one["row"] - one["response"])[len(loads) // 2]
        update = _change(page, run_id, changes)
        browser.close()
    _print(load, update, changes)


def _load(page: Any, url: str) -> dict[str, Any]:
    page.goto(url)
    page.wait_for_selector("[role=treeitem]")
    _wait(page, "bench.firstRow !== null && bench.seq > 0")
    measures: dict[str, Any] = page.evaluate(MEASURES)
    return measures


def _wait(page: Any, condition: str) -> None:
    # Playwright's own wait would evaluate text inside the page, which its policy forbids.
    wait_until(lambda: page.evaluate(condition), 30, what=condition)


def _change(page: Any, run_id: str, changes: int) -> dict[str, Any]:
    """Ends `changes` nodes within one second while the page watches."""
    import uuid

    ended: list[tuple[float, int]] = []
    writer = threading.Thread(target=_write, args=(uuid.UUID(run_id), changes, ended))
    page.evaluate("() => { bench.tasks.length = 0; bench.watching = true; }")
    writer.start()
    wait_until(lambda: page.evaluate("1") and not writer.is_alive(), 60, what="the changes")
    seconds, seq = ended[0]
    _wait(page, f"bench.seq >= {seq}")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300)))")
    measures: dict[str, Any] = page.evaluate(
        "() => ({pause: bench.pause, frames: bench.frames, rows: bench.rows, "
        "blocked: Math.max(0, ...bench.tasks.map(([, ms]) => ms))})"
    )
    return {**measures, "seconds": seconds}


def _write(run_id: Any, changes: int, ended: list[tuple[float, int]]) -> None:
    from django.db import connection

    from swarmui.live.notify import wake_run
    from swarmui.management.seeding.change import end_open_nodes

    started, seq, pause = time.perf_counter(), 0, threading.Event()
    for step in range(STEPS):
        seq = end_open_nodes(run_id, changes // STEPS)
        wake_run(run_id, seq)
        pause.wait(max(0.0, started + (step + 1) / STEPS - time.perf_counter()))
    ended.append((time.perf_counter() - started, seq))
    connection.close()


def _print(load: dict[str, Any], update: dict[str, Any], changes: int) -> None:
    paint = load["paint"] - load["response"] if load["paint"] is not None else None
    row = load["row"] - load["response"]
    print_table(
        "the page of a large run",
        ("", "measured", "at most", "of it"),
        [
            _line("first paint after the response, ms", paint, MAX_PAINT_MS),
            _line("first rows of the tree after it, ms", row, MAX_PAINT_MS),
            _line("longest block while loading, ms", load["blocked"], None),
            _line(f"longest block in {changes} changes, ms", update["blocked"], MAX_BLOCK_MS),
            _line("longest pause between two frames, ms", update["pause"], None),
            _line("rows in the page", update["rows"], MAX_ROWS),
        ],
    )
    print(f"the changes were written in {update['seconds']:.2f} s; "
          f"{update['frames']} frames were drawn")  # fmt: skip


def _line(name: str, value: float | None, limit: float | None) -> tuple[object, ...]:
    share = None if value is None or limit is None else f"{100 * value / limit:.0f} %"
    if "block" in name and not value:
        return name, f"under {LONG_TASK_MS}", limit, "–"
    return name, value, limit, share


if __name__ == "__main__":
    main()
