"""The fold and the hash chain."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.ledger import (
    ENDINGS,
    GENESIS,
    Event,
    Link,
    NodeEvent,
    Subject,
    chain_faults,
    chain_hash,
    replay,
)
from verifier.lifecycle import TERMINAL, NodeStatus

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
RUN = "0193a7c4"


def event(seq, node, name, attempt=None, **payload):
    return Event(
        seq=seq,
        subject=Subject.SWARM_NODE,
        subject_id=node,
        event=name,
        attempt=attempt,
        payload=payload,
        actor="test",
        at=EPOCH + timedelta(seconds=seq),
    )


def story():
    """A root that delegates, and a branch that misses its contract and mends it."""
    return [
        event(1, "root", "spawn", status="queued", kind="root", depth=0, role="root", title="goal"),
        event(2, "root", "start", status="waiting"),
        event(3, "a", "spawn", status="queued", kind="agent", depth=1, parent="root", branch=0),
        event(4, "a", "start", 1, status="running"),
        event(5, "a", "retry", 1, status="queued", outcome="contract_failed", reason="json: body"),
        event(6, "a", "start", 2, status="running", reason=""),
        event(7, "a", "result", 2, status="ok", outcome="ok", tokens=812, chosen_attempt=2,
              chosen_because="retry_passed", marks=["receipt_mismatch"]),
        event(8, "root", "result", status="ok", reason=""),
    ]  # fmt: skip


def test_the_fold_of_a_story():
    tree = replay(story())
    a = tree.nodes["a"]
    assert (tree.seq, tree.problems, tree.in_flight) == (8, (), [])
    assert (a.status, a.parent, a.branch, a.tokens) == ("ok", "root", 0, 812)
    assert (a.chosen_attempt, a.chosen_because, a.marks) == (
        2,
        "retry_passed",
        ("receipt_mismatch",),
    )
    assert [(one.number, one.outcome) for one in a.attempts.values()] == [
        (1, "contract_failed"),
        (2, "ok"),
    ]
    assert a.attempts[1].ended == EPOCH + timedelta(seconds=5)


@pytest.mark.parametrize(
    ("at", "status", "in_flight"),
    [
        (2, None, ["root"]),
        (3, "queued", ["root", "a"]),
        (4, "running", ["root", "a"]),
        (5, "queued", ["root", "a"]),
        (7, "ok", ["root"]),
        (99, "ok", []),
    ],
)
def test_the_tree_as_it_was_at_any_seq(at, status, in_flight):
    tree = replay(story(), at=at)
    assert (tree.nodes["a"].status if "a" in tree.nodes else None) == status
    assert [node.id for node in tree.in_flight] == in_flight


@given(st.permutations(story()), st.lists(st.sampled_from(story()), max_size=8))
def test_any_order_and_any_duplicates_give_the_same_tree(events, again):
    assert replay([*events, *again]) == replay(story())


def test_a_spawn_that_comes_after_the_result_gives_the_facts_and_changes_no_end():
    tree = replay([event(1, "a", "result", 1, status="ok"), event(2, "a", "spawn", role="late")])
    assert (tree.nodes["a"].status, tree.nodes["a"].role) == ("ok", "late")
    assert tree.problems == ()


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([event(1, "a", "result", status="ok")], "has events but no spawn"),
        ([event(1, "a", "spawn"), event(2, "a", "spawn")], "spawned twice"),
        ([event(1, "a", "spawn"), event(2, "a", "dance")], "unknown event 'dance'"),
        (
            [event(1, "a", "spawn"), event(2, "a", "result", status="ok"), event(3, "a", "start")],
            "start after the node ended as ok",
        ),
    ],
)
def test_what_is_odd_is_tolerated_and_named(events, says):
    assert any(says in problem for problem in replay(events).problems)


def test_other_subjects_do_not_touch_the_tree():
    other = Event(1, "delegation", "d", "open", None, {}, "test", EPOCH)
    assert replay([other]).nodes == {}


def test_a_chain_ten_thousand_deep_folds_without_recursion():
    events = [
        event(i + 1, str(i), "spawn", parent=str(i - 1) if i else None) for i in range(10_000)
    ]
    assert len(replay(events).nodes) == 10_000


@given(st.lists(st.sampled_from(sorted(ENDINGS)), min_size=1, max_size=4))
def test_the_first_end_stands(endings):
    ends = sorted(TERMINAL)
    events = [event(1, "a", "spawn")] + [
        event(2 + i, "a", name, status=ends[i]) for i, name in enumerate(endings)
    ]
    assert replay(events).nodes["a"].status == ends[0]


def chained(events):
    previous, links = GENESIS, []
    for one in events:
        digest = chain_hash(previous, RUN, one)
        links.append(Link(one, previous, digest))
        previous = digest
    return links


def test_a_whole_chain_has_no_fault():
    assert chain_faults(RUN, chained(story())) == []


@pytest.mark.parametrize("seq", range(1, 9))
def test_a_changed_row_is_named(seq):
    links = chained(story())
    old = links[seq - 1]
    forged = event(seq, old.event.subject_id, old.event.event, old.event.attempt, status="ok", x=1)
    links[seq - 1] = Link(forged, old.prev_hash, old.hash)
    assert chain_faults(RUN, links) == [f"seq {seq}: the row was changed after it was written"]


@pytest.mark.parametrize("seq", range(1, 8))
def test_a_removed_row_is_noticed(seq):
    links = chained(story())
    del links[seq - 1]
    assert any("missing" in fault for fault in chain_faults(RUN, links))


def test_a_chain_belongs_to_its_run():
    assert chain_faults("another run", chained(story()))


keys = st.text(max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100)
@given(st.dictionaries(keys, values, max_size=4))
def test_the_hash_does_not_depend_on_the_order_of_keys(payload):
    turned = dict(reversed(payload.items()))
    assert chain_hash(GENESIS, RUN, event(1, "a", "spawn", payload=payload)) == chain_hash(
        GENESIS, RUN, event(1, "a", "spawn", payload=turned)
    )


def test_events_are_the_six_and_three_of_them_end_a_node():
    assert {e.value for e in NodeEvent} == {
        "spawn", "start", "retry", "result", "cancel", "reconcile"
    }  # fmt: skip
    assert len(ENDINGS) == 3
    assert replay([event(1, "a", "spawn", status=NodeStatus.QUEUED)]).nodes["a"].status == "queued"
