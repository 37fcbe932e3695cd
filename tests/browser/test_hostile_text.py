"""Text from workers, models and files is shown, and does nothing else, wherever it stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from swarmui.views.node_parts import TABS
from tests.browser.driving import open_run, row, shown_seq
from tests.browser.trees import Grove, Told
from tests.waiting import wait_until
from verifier.framing import visible
from verifier.lifecycle import NodeStatus
from verifier.receipt import SideEffects

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Site

ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'><svg onload=alert(3)>",
    "</pre></bdi><iframe src=javascript:alert(4)></iframe>",
    "<a href=javascript:alert(5)>x</a>",
    "</script><script>alert(6)</script>",  # ends a block of JSON
    "<!--<script>",  # the same, by a comment
    "{{ 7|add:7 }}{% debug %}",  # a template within a template
    '<div hx-get="/sign-out/" hx-trigger="load" hx-on:load="alert(7)">',
    '" autofocus onfocus="alert(8)',
    "<style>*{display:none}</style>",
    "<form action=//evil.test><input name=q autofocus>",
    '<link rel=stylesheet href="//evil.test/x.css">',
    "<meta http-equiv=refresh content='0;url=//evil.test'>",
    "javascript:alert(9)",
    "\u2028</textarea><script>alert(10)</script>",
]
CONTROLS = "\x1b[31mred\x1b]52;c;AAAA\x07 \x9b1m \u202egpj.exe \u200bx \ufeffy e" + "\u0301" * 40


def _grove_of(text: str) -> tuple[Grove, Any]:
    grove = Grove(f"goal {text}")
    node = grove.add(text[:80], text[:80], subtopic=text[:80], task_brief=text)
    told = Told(
        outcome=NodeStatus.CONTRACT_FAILED,
        brief=text,
        output={text: [text, {"deep": text}]},
        notes=text,
        error=text,
        effects=SideEffects(toolCalls=1, byName={text: 1}),
        files=(text,),
        gates=({"kind": text[:40], "outcome": "failed", "reason": text, "observed": text,
                "spec": {"value": text}},),
        steps=({"kind": "result", "tool": text[:120], "payload": {text: text}},),
    )  # fmt: skip
    grove.attempt(node, 1, told)
    grove.move(
        node, NodeStatus.CONTRACT_FAILED, attempt=1, outcome=NodeStatus.CONTRACT_FAILED,
        reason=text, chosen_attempt=1, chosen_because=text[:40], marks=(text[:40],),
    )  # fmt: skip
    return grove, node


def _is_inert(page: Page) -> None:
    page.wait_for_function("() => document.readyState === 'complete'")
    ours = "script[src], script[nonce], script[type='application/json']"
    found = page.evaluate(
        """(ours) => [
          ...document.querySelectorAll("iframe, img, style, [onfocus], [onload], [onerror]"),
          ...document.querySelectorAll("form[action*='evil'], link[href*='evil']"),
          ...document.querySelectorAll("a[href^='javascript:'], meta[http-equiv]"),
          ...document.querySelectorAll("[hx-get], [hx-post], [data-hx-get], [hx-on]"),
          ...[...document.querySelectorAll("script")].filter((one) => !one.matches(ours)),
        ].map((one) => one.outerHTML)""",
        ours,
    )
    assert found == []
    assert page.complaints == []  # type: ignore[attr-defined]


@pytest.mark.django_db(transaction=True)
def test_markup_in_every_field_is_inert_on_every_page(page: Page, site: Site) -> None:
    groves = [_grove_of(text) for text in ATTACKS]
    page.goto(f"{site.url}/runs/")
    page.get_by_text("goal <script>alert(1)</script>").wait_for()
    _is_inert(page)
    for grove, node in groves:
        open_run(page, site, grove, f"?node={node.pk}&tab=output")
        for tab in TABS:
            page.locator(f"#tab-{tab}").click()
            page.locator(f"#tab-{tab}[aria-selected=true]").wait_for()
            page.wait_for_function("() => !document.querySelector('#panel[aria-busy]')")
        _is_inert(page)
        page.goto(f"{site.url}{grove.path}outline/")
        _is_inert(page)


@pytest.mark.django_db(transaction=True)
def test_markup_that_comes_by_the_socket_is_inert(page: Page, site: Site) -> None:
    grove = Grove()
    open_run(page, site, grove)
    nodes = []
    for text in ATTACKS:
        node = grove.add(text[:80], text[:80])
        grove.move(node, NodeStatus.TOOL_ERROR, reason=text)
        nodes.append(node)
    wait_until(lambda: shown_seq(page) == grove.seq, what="every event to be shown")
    row(page, nodes[-1]).wait_for()
    assert row(page, nodes[0]).locator(".role").text_content() == ATTACKS[0]
    _is_inert(page)


@pytest.mark.django_db(transaction=True)
def test_what_controls_or_hides_is_spelt_out_everywhere(page: Page, site: Site) -> None:
    grove, node = _grove_of(CONTROLS)
    type(node).objects.filter(pk=node.pk).update(title=CONTROLS)  # as an import may leave it
    acting = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ufeff]")
    open_run(page, site, grove, f"?node={node.pk}&tab=output")
    for tab in TABS:
        page.locator(f"#tab-{tab}").click()
        page.locator(f"#tab-{tab}[aria-selected=true]").wait_for()
        seen = page.locator("body").inner_text()
        assert not acting.search(seen)
        assert "\u0301" * 10 not in seen
    assert "␛[31mred" in page.locator("#panel").inner_text()
    assert "⟦U+202E⟧gpj.exe" in row(page, node).inner_text()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "text",
    [
        CONTROLS,
        "plain, with \t tab and \n line",
        "⚠\ufe0f 1\ufe0f\u20e3 a\ufe0f",  # an emoji's style stays, a stray one does not
        "\U000e0041\U000e007f tags",
        "e" + "\u0301" * 3 + " f" + "\u0302" * 9,
        "\u115f\u3164\u00ad fillers",
        "שלום abc 123",
    ],
)
def test_script_and_server_spell_alike(page: Page, site: Site, text: str) -> None:
    open_run(page, site, Grove())
    spelt = page.evaluate(
        """async (text) => {
          const source = document.querySelector("script[src*='run.js']").src;
          const { visible } = await import(new URL("worker_text.js", source));
          return visible(text);
        }""",
        text,
    )
    assert spelt == visible(text)
