"""What the tabs of the panel say, in words a reader needs no key for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmui.adapters.models.instructions import instructions_for
from swarmui.models import Node
from swarmui.views.gate_words import gate_words
from swarmui.views.trajectory_parts import entry_parts
from tests.browser.driving import open_run
from tests.browser.trees import Grove, Told, recovered
from verifier.lifecycle import NodeStatus
from verifier.retry import ChosenBecause

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Site

MODEL_WORK: dict[str, Any] = {
    "worker": {"kind": "model"},
    "model": "recorded:model.yaml",
    "tools": ["filesystem"],
    "scorers": [{"kind": "json", "requiredKeys": ["title"]}],
    "expected_output": {"shape": "code-diff"},
    "tokens": 1000,
    "wall_clock_s": 60,
    "contract_retries": 1,
}
PROGRAM_WORK = MODEL_WORK | {
    "worker": {"kind": "command", "argv": ["wc", "-l"]},
    "scorers": [],
    "expected_output": {"shape": "json", "schema": {"required": ["lines"]}},
}


def at_work(grove: Grove, work: dict[str, Any], told: Told) -> Node:
    node = grove.add("writing", "docs")
    Node.objects.filter(pk=node.pk).update(work=work)
    grove.attempt(node, 1, told)
    return node


def tab(page: Page, site: Site, grove: Grove, node: Node, name: str) -> str:
    open_run(page, site, grove, f"?node={node.pk}&tab={name}")
    return page.locator("#tab-body").inner_text()


@pytest.mark.django_db(transaction=True)
def test_the_brief_shows_all_that_a_model_was_told_and_every_gate(page: Page, site: Site) -> None:
    grove = Grove()
    node = at_work(grove, MODEL_WORK, Told(brief="Write it."))
    said = tab(page, site, grove, node, "brief")
    assert instructions_for("writing", "code-diff") in said
    assert "Write it." in said
    assert "code-diff" in said
    assert "filesystem" in said
    gates = page.locator("#tab-body .specs li").all_inner_texts()
    assert gates == [
        "json the output is a JSON object with the key “title”",
        "files_changed at least one file was changed always checked",
        "tool_outage of its tool calls at least one succeeded, if it made any always checked",
    ]


@pytest.mark.django_db(transaction=True)
def test_the_brief_of_a_program_names_no_tools_and_no_instructions(page: Page, site: Site) -> None:
    grove = Grove()
    said = tab(page, site, grove, at_work(grove, PROGRAM_WORK, Told()), "brief")
    assert "standard input" in said
    assert "Standing instructions" not in said
    assert "filesystem" not in said
    assert '"required"' in said, "the schema that is asked for"
    assert "json the output is a JSON object with the key “lines” always checked" in said


@pytest.mark.django_db(transaction=True)
def test_a_crashed_node_and_the_one_that_replaces_it_link_to_each_other(
    page: Page, site: Site
) -> None:
    grove = Grove()
    crashed = at_work(grove, MODEL_WORK, Told(outcome=NodeStatus.TOOL_ERROR, error="exit 3"))
    grove.move(
        crashed, NodeStatus.TOOL_ERROR, attempt=1, outcome=NodeStatus.TOOL_ERROR,
        chosen_attempt=1, chosen_because=ChosenBecause.ONLY_ATTEMPT,
    )  # fmt: skip
    again = grove.add("writing", "again", retry_of=crashed)
    said = tab(page, site, grove, crashed, "attempts")
    assert "there was no other" not in said
    assert page.locator(".panel-marks a").all_inner_texts() == ["replaced by another node"]
    page.get_by_role("link", name="another node that replaces it").click()
    page.locator("#panel h2", has_text="again").wait_for()
    assert f"node={again.pk}" in page.url
    page.get_by_role("link", name="the node it replaces").click()
    page.locator("#panel h2", has_text="docs").wait_for()


@pytest.mark.django_db(transaction=True)
def test_a_step_is_opened_as_names_and_values_and_texts_keep_their_lines(
    page: Page, site: Site
) -> None:
    call = {"path": "notes.md", "text": 'He said "now".\nAnd left.'}
    back = {"kind": "result", "content": "line 1\nline 2 \\n", "truncated": False}
    steps = (
        {"kind": "proposal", "tool": "filesystem__write_file", "payload": {"arguments": call}},
        {"kind": "result", "tool": "filesystem__write_file", "payload": back},
    )
    grove = Grove()
    node = at_work(grove, MODEL_WORK, Told(steps=steps))
    tab(page, site, grove, node, "trajectory")
    for number in (0, 1):
        page.locator(".entry summary").nth(number).click()
    first = page.locator(".entry").nth(0)
    assert first.locator(".gist b").is_visible(), "the tool's name stays"
    assert first.locator("dt").all_inner_texts() == ["path", "text"]
    assert first.locator("dd").all_inner_texts() == ["notes.md", 'He said "now".\nAnd left.']
    assert "line 1\nline 2 \\n" in page.locator(".entry").nth(1).inner_text()
    assert page.locator(".entry .at").all_inner_texts() == ["1", "2"]
    assert page.complaints == []


@pytest.mark.parametrize(
    ("payload", "parts"),
    [
        ({}, []),
        (["a", "b"], [("value", "a\nb")]),  # no payload of ours, but nothing else is lost either
        ({"kind": "result", "truncated": False, "duration_ms": 3}, [("took", "3 ms")]),
        ({"kind": "error", "truncated": True}, [("kind", "error"), ("truncated", "true")]),
        ({"call_id": 0}, [("call id", "0")]),
        ({"content": '{"found": ["a"]}'}, [("content", '{\n  "found": [\n    "a"\n  ]\n}')]),
        ({"content": "{not json"}, [("content", "{not json")]),
        ({"arguments": "not an object"}, [("arguments", "not an object")]),
    ],
)
def test_every_payload_can_be_read(payload: Any, parts: list[tuple[str, str]]) -> None:
    shown = entry_parts({"kind": "result", "payload": payload})
    assert [(part["name"], part["text"]) for part in shown["parts"]] == parts


@pytest.mark.django_db(transaction=True)
def test_evidence_that_is_unknown_is_explained_without_the_name_of_a_field(
    page: Page, site: Site
) -> None:
    grove = Grove()
    said = tab(page, site, grove, at_work(grove, PROGRAM_WORK, Told(effects=None)), "receipt")
    assert "Unknown. No counters" in said
    assert "sideEffects" not in said


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("output", [None, ""])
def test_an_empty_output_is_said_in_words(page: Page, site: Site, output: str | None) -> None:
    grove = Grove()
    said = tab(page, site, grove, at_work(grove, PROGRAM_WORK, Told(output=output)), "output")
    assert "It gave back nothing." in said
    assert page.locator("#tab-body pre").count() == 0


@pytest.mark.django_db(transaction=True)
def test_gates_that_were_not_evaluated_are_counted_as_what_they_are(page: Page, site: Site) -> None:
    gates = (
        {"kind": "json", "outcome": "passed"},
        {"kind": "tool_outage", "outcome": "not_evaluated"},
    )
    grove = Grove()
    said = tab(page, site, grove, at_work(grove, MODEL_WORK, Told(gates=gates)), "attempts")
    assert "gates: 1 passed, 1 not evaluated" in said


@pytest.mark.django_db(transaction=True)
def test_a_gate_says_what_it_asks_for(page: Page, site: Site) -> None:
    grove = Grove()
    said = tab(page, site, grove, recovered(grove), "gates")
    assert "the output is JSON" in said


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"kind": "non_empty"}, "the output has content"),
        ({"kind": "contains", "value": "ok", "on": "notes"}, "the notes contain “ok”"),
        ({"kind": "contains", "value": "ok"}, "the output contains “ok”"),
        ({"kind": "file_exists", "path": "a.md"}, "“a.md” is in the workspace"),
        ({"kind": "json", "required_keys": []}, "the output is JSON"),
        # either spelling, as the spec says it or as it is stored
        (
            {"kind": "json", "required_keys": ["a", "b"], "allow_null": True},
            "the output is a JSON object with the keys “a”, “b”, null allowed",
        ),
        ({"kind": "of_tomorrow", "level": 3, "unset": None}, '{"level": 3}'),
        ({"kind": "of_tomorrow"}, ""),
    ],
)
def test_gates_are_said_in_words(spec: dict[str, Any], words: str) -> None:
    assert gate_words(spec) == words
