"""What the page says of its own freshness, and that nothing is missed however rows come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.driving import live_state, open_run, row, shown_roles, shown_seq
from tests.browser.trees import Grove
from tests.waiting import wait_until
from verifier.lifecycle import NodeStatus

if TYPE_CHECKING:
    from playwright.sync_api import Page, WebSocketRoute

    from tests.browser.conftest import Site


def up_to_date(page: Page, grove: Grove) -> None:
    wait_until(lambda: shown_seq(page) == grove.seq, 15, what="the page to have every event")


@pytest.mark.django_db(transaction=True)
def test_rows_come_as_they_happen(page: Page, site: Site) -> None:
    grove = Grove()
    open_run(page, site, grove)
    wait_until(lambda: live_state(page) == "live", what="live")
    node = grove.add("writing", "docs")
    grove.move(node, NodeStatus.RUNNING)
    row(page, node).locator(".word", has_text="running").wait_for()
    grove.move(node, NodeStatus.CONTRACT_FAILED)
    row(page, node).locator(".word", has_text="contract failed").wait_for()
    assert "1 contract failed" in page.locator("#node-counts").inner_text()
    grove.move(grove.root, NodeStatus.OK)
    wait_until(lambda: live_state(page) == "final", 15, what="final")
    assert shown_seq(page) == grove.seq
    assert page.complaints == []  # type: ignore[attr-defined]


@pytest.mark.django_db(transaction=True)
def test_a_lost_socket_is_said_and_what_happened_meanwhile_is_caught_up(
    page: Page, site: Site
) -> None:
    sockets: list[WebSocketRoute] = []
    is_dead = {"now": False}

    def route(socket: WebSocketRoute) -> None:
        if is_dead["now"]:
            socket.close(code=1011)
            return
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket("**/ws/**", route)
    grove = Grove()
    open_run(page, site, grove)
    wait_until(lambda: live_state(page) == "live", what="live")
    is_dead["now"] = True
    page.route("**/rows?*", lambda request: request.abort())
    sockets[-1].close(code=1011)
    wait_until(lambda: live_state(page) == "stale", what="stale")
    nodes = [grove.add(f"worker-{n}") for n in range(5)]
    grove.move(nodes[0], NodeStatus.OK)
    assert live_state(page) == "stale"
    is_dead["now"] = False
    up_to_date(page, grove)
    wait_until(lambda: live_state(page) == "live", 15, what="live again")
    assert len(shown_roles(page)) == 6


@pytest.mark.django_db(transaction=True)
def test_a_page_whose_socket_never_comes_back_still_learns_everything(
    page: Page, site: Site
) -> None:
    page.route_web_socket("**/ws/**", lambda socket: socket.close(code=1011))
    grove = Grove()
    open_run(page, site, grove)
    node = grove.add("writing")
    up_to_date(page, grove)
    row(page, node).wait_for()
    assert live_state(page) == "stale"


class _Pretended:
    """A server's side of the socket that says what a test wants."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.sockets: list[Any] = []
        page.route_web_socket("**/ws/**", lambda socket: self.sockets.append(socket))

    def say(self, frame: str) -> None:
        # Playwright hears of the page only while it is being asked something.
        wait_until(lambda: self.page.title() and self.sockets, what="the page to connect")
        self.sockets[-1].send(frame)

    def progress(self, seq: int) -> None:
        self.say(
            f'{{"type":"progress","seq":{seq},"run_status":"waiting","terminal":false,"now_ms":1}}'
        )


@pytest.mark.django_db(transaction=True)
def test_a_gap_between_frames_is_seen_and_filled(page: Page, site: Site) -> None:
    server = _Pretended(page)
    grove = Grove()
    open_run(page, site, grove)
    nodes = [grove.add(f"worker-{n}") for n in range(3)]
    seq = grove.seq
    server.say(f'{{"type":"rows","from":{seq - 1},"to":{seq},"rows":[]}}')
    up_to_date(page, grove)
    row(page, nodes[0]).wait_for()
    assert len(shown_roles(page)) == 4


@pytest.mark.django_db(transaction=True)
def test_a_progress_frame_ahead_of_the_rows_makes_the_page_ask(page: Page, site: Site) -> None:
    server = _Pretended(page)
    grove = Grove()
    open_run(page, site, grove)
    node = grove.add("writing")
    server.progress(grove.seq)
    wait_until(lambda: live_state(page) == "catching up", what="catching up")
    up_to_date(page, grove)
    row(page, node).wait_for()


@pytest.mark.django_db(transaction=True)
def test_old_frames_change_nothing_and_resync_fetches_the_tree(page: Page, site: Site) -> None:
    server = _Pretended(page)
    grove = Grove()
    node = grove.grown("writing", "", NodeStatus.OK)
    open_run(page, site, grove)
    stale = f'["{node.pk}",null,null,"agent",1,null,"old","","running","",null,[],[],1]'
    server.say(f'{{"type":"rows","from":0,"to":{grove.seq},"rows":[{stale}]}}')
    server.progress(grove.seq)  # frames keep their order: after this the old one was taken
    wait_until(lambda: live_state(page) == "live", what="live")
    assert shown_roles(page) == ["root", "writing"]
    grove.add("later")
    with page.expect_response(lambda response: response.url.endswith("/tree")):
        server.say('{"type":"resync"}')
    up_to_date(page, grove)
    assert shown_roles(page) == ["root", "writing", "later"]
    assert row(page, node).locator(".word").text_content() == "ok"


@pytest.mark.django_db(transaction=True)
def test_a_silent_socket_is_stale_after_twelve_seconds(page: Page, site: Site) -> None:
    server = _Pretended(page)
    page.clock.install()
    grove = Grove()
    open_run(page, site, grove)
    page.route("**/rows?*", lambda request: request.abort())
    server.progress(grove.seq)
    wait_until(lambda: live_state(page) == "live", what="live")
    page.clock.run_for(10_000)
    assert live_state(page) == "live"
    page.clock.run_for(2_100)
    wait_until(lambda: live_state(page) == "stale", what="stale")


@pytest.mark.django_db(transaction=True)
def test_a_pause_holds_the_rows_and_going_on_brings_them(page: Page, site: Site) -> None:
    grove = Grove()
    open_run(page, site, grove)
    wait_until(lambda: live_state(page) == "live", what="live")
    page.keyboard.press("p")
    assert live_state(page) == "paused"
    before = shown_seq(page)
    node = grove.add("writing")
    asked = page.request.get(f"{site.url}/api/v1{grove.path}tree").json()
    assert asked["seq"] > before == shown_seq(page)
    page.keyboard.press("p")
    row(page, node).wait_for()
    up_to_date(page, grove)


@pytest.mark.django_db(transaction=True)
def test_a_session_that_ended_is_said_and_the_page_stays(page: Page, site: Site) -> None:
    grove = Grove()
    open_run(page, site, grove)
    page.context.clear_cookies()
    page.keyboard.press("p")
    page.keyboard.press("p")
    page.get_by_text("You are signed out.").wait_for()
    assert live_state(page) == "stale"
    assert shown_roles(page) == ["root"]
    assert page.url == f"{site.url}{grove.path}"


@pytest.mark.django_db(transaction=True)
def test_any_order_of_rows_gives_the_tree_of_a_fresh_skeleton(page: Page, site: Site) -> None:
    grove = Grove()
    for n in range(4):
        node = grove.grown(f"agent-{n}", "", NodeStatus.TOOL_ERROR)
        grove.add(f"below-{n}", parent=node)
        if n % 2:
            grove.add(f"again-{n}", retry_of=node)
    open_run(page, site, grove)
    different = page.evaluate(
        """async () => {
          const source = document.querySelector("script[src*='run.js']").src;
          const { TreeModel } = await import(new URL("tree/model.js", source));
          const { Vocabulary } = await import(new URL("vocabulary.js", source));
          const skeleton = JSON.parse(document.getElementById("skeleton").textContent);
          const seen = (model) => JSON.stringify([model.visible().map((n) => [n.id, n.level,
            [...n.below].sort()]), [...model.counts].sort(), model.timeSpan(),
            model.visible().map((n) => n.lastEnd)]);
          const fresh = new TreeModel(Vocabulary.fromPage());
          fresh.load(skeleton);
          let state = 7;
          const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
          let wrong = 0;
          for (let round = 0; round < 200; round += 1) {
            const rows = [...skeleton.rows, ...skeleton.rows.slice(0, 3)]
              .map((row) => [random(), row]).sort((a, b) => a[0] - b[0]).map(([, row]) => row);
            const model = new TreeModel(Vocabulary.fromPage());
            while (rows.length) {
              model.apply(rows.splice(0, 1 + Math.floor(random() * 4)), skeleton.columns);
              model.visible();
            }
            if (seen(model) !== seen(fresh)) wrong += 1;
          }
          return wrong;
        }"""
    )
    assert different == 0


@pytest.mark.django_db(transaction=True)
def test_a_network_that_goes_is_said_at_once_and_one_that_comes_back_heals(
    page: Page, site: Site
) -> None:
    server = _Pretended(page)
    grove = Grove()
    open_run(page, site, grove)
    server.progress(grove.seq)
    wait_until(lambda: live_state(page) == "live", what="live")
    page.context.set_offline(True)
    wait_until(lambda: live_state(page) == "stale", 2, what="stale at once")
    page.context.set_offline(False)
    sockets = len(server.sockets)
    wait_until(lambda: page.title() and len(server.sockets) > sockets, what="a new socket")
    server.progress(grove.seq)
    wait_until(lambda: live_state(page) == "live", what="live again")


@pytest.mark.django_db(transaction=True)
def test_a_server_on_this_machine_is_live_without_a_network(page: Page, site: Site) -> None:
    grove = Grove()
    open_run(page, site, grove)
    wait_until(lambda: live_state(page) == "live", what="live")
    page.evaluate("dispatchEvent(new Event('offline'))")
    assert live_state(page) == "stale"
    wait_until(lambda: live_state(page) == "live", what="live, for the server is heard")
