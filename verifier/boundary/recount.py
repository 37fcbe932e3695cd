"""An attempt's counts, told again from its trajectory: for one that was cut off before it could
report its own."""

from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from verifier.boundary.executor import ObservationKind
from verifier.boundary.trajectory import EntryKind
from verifier.receipt import SideEffects, ToolCounters


def counters_of(entries: Iterable[tuple[str, str, Mapping[str, JsonValue]]]) -> SideEffects:
    """The counts that (kind, tool, payload) entries prove."""
    counters = ToolCounters()
    for kind, tool, payload in entries:
        if kind == EntryKind.DENIAL:
            counters.denied()
        elif kind == EntryKind.RESULT and payload.get("kind") == ObservationKind.RESULT:
            counters.succeeded(tool)
        elif kind == EntryKind.RESULT:
            counters.error()
    return counters.snapshot()
