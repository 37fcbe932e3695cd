"""One process with everything in it, killed again and again at moments nobody chose."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.support.installation import Installation, embedded_installation
from tests.waiting import wait_until
from verifier.lifecycle import TERMINAL

pytestmark = [pytest.mark.installation, pytest.mark.timeout(90)]

KILLS = 4
LONGEST_S = 1.2  # a run of these takes about as long
MODEL = "recorded:tests/swarmui/crash/recordings.yaml"
WRITES = ["sh", "-c", "sleep 0.3; echo some > file; cat"]
SPEC: dict[str, Any] = {
    "goal": "Bear it",
    "model": MODEL,
    "branches": [
        {"role": "quick", "task_brief": "Answer."},
        {"role": "stepper", "task_brief": "Take steps."},
        {
            "role": "program",
            "task_brief": "Write.",
            "worker": {"kind": "command", "argv": WRITES, "isolation": "host"},
        },
    ],
}


def test_every_run_ends_and_every_ledger_is_whole_however_often_it_was_killed(
    tmp_path: Path,
) -> None:
    moments = random.Random(2)
    with embedded_installation(tmp_path / "embedded", SWARMUI_LEASE_S="4") as installation:
        run_ids = []
        for _ in range(KILLS):
            run_ids += [start(installation) for _ in range(2)]
            threading.Event().wait(moments.uniform(0.05, LONGEST_S))
            installation["server"].kill()
            installation["server"].start()
            installation.wait_ready()
        for run_id in run_ids:
            installation.wait_for_run(run_id)
        for run_id in run_ids:
            document = installation.run_document(run_id)
            assert {node["status"] for node in document["nodes"]} <= TERMINAL
            assert document["budget"]["tokens"]["reserved"] == 0
        wait_until(lambda: installation.cli("ledger", "verify").returncode == 0, 10)
        log = installation["server"].log()
        for word in ("Traceback", "database is locked", "malformed"):
            assert word not in log, log


def start(installation: Installation) -> str:
    answer = installation.post("/api/v1/runs", SPEC)
    assert answer.status == 201, answer.text
    return str(answer.json()["id"])
