"""What is on the wire."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from swarmui.live.messages import (
    MAX_CURSOR,
    Wake,
    encode_rows,
    parse_wake,
    progress_frame,
    rows_frame,
    wake_message,
)

RUN = UUID(int=5)


def test_a_wake_up_is_a_few_bytes_and_survives_the_round_trip() -> None:
    message = wake_message(RUN, 41)
    assert parse_wake(message) == Wake(RUN, 41)
    assert len(json.dumps(message)) < 100


@pytest.mark.parametrize(
    "message",
    [
        None,
        "wake",
        {},
        {"type": "other", "run": str(RUN), "seq": 1},
        {"type": "wake", "run": str(RUN)},
        {"type": "wake", "run": 5, "seq": 1},
        {"type": "wake", "run": "not-a-uuid", "seq": 1},
        {"type": "wake", "run": str(RUN), "seq": "1"},
        {"type": "wake", "run": str(RUN), "seq": True},  # a bool is an int to Python
        {"type": "wake", "run": str(RUN), "seq": -1},
        {"type": "wake", "run": str(RUN), "seq": MAX_CURSOR + 1},
        {"type": "wake", "run": str(RUN), "seq": 1.5},
    ],
)
def test_anything_else_on_the_channel_is_no_wake_up(message: object) -> None:
    assert parse_wake(message) is None


def test_a_rows_frame_names_where_it_starts_and_ends() -> None:
    rows = [["id", "</script>\u202e", None]]
    assert json.loads(rows_frame(3, 9, encode_rows(rows))) == {
        "type": "rows",
        "from": 3,
        "to": 9,
        "rows": rows,
    }


def test_a_progress_frame_carries_the_servers_clock_in_milliseconds() -> None:
    frame = json.loads(progress_frame(9, "ok", terminal=True))
    assert frame.pop("now_ms") > 1_700_000_000_000
    assert frame == {"type": "progress", "seq": 9, "run_status": "ok", "terminal": True}
