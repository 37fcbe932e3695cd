"""Branches admitted at the same moment never reserve more than the run has."""

import json
import threading

import pytest
from django.db import connection

from swarmui.models import Attempt, Run
from swarmui.services import leases
from swarmui.services.runs import Order, start_run
from verifier.spec import parse_run_spec

BRANCHES = 8
SHARE = 9_000  # what one branch may use
CAP = 80_000


@pytest.fixture
def run(transactional_db, settings, tmp_path):
    settings.SWARMUI_HOME = tmp_path / "home"
    script = {"name": "any", "turns": [{"final": "x"}]}
    recording = {"format": 1, "family": "test", "scripts": [script]}
    (tmp_path / "model.yaml").write_text(json.dumps(recording))
    spec = {
        "goal": "Spend",
        "model": "recorded:model.yaml",
        "budget": {"tokens": CAP},
        "branches": [{"role": f"b{n}", "task_brief": "Spend."} for n in range(BRANCHES)],
    }
    return start_run(Order(spec=parse_run_spec(spec), origin="test", base_dir=tmp_path)).run


@pytest.mark.parametrize(("spent", "admitted"), [(0, 8), (CAP - 3 * SHARE, 3), (CAP - SHARE, 1)])
def test_as_many_are_admitted_as_there_are_tokens_for(run, spent, admitted):
    Run.objects.filter(pk=run.pk).update(tokens_spent=spent)
    ids = list(Attempt.objects.filter(node__run=run).values_list("pk", flat=True))
    claims: list[leases.Claim | None] = []
    at_once = threading.Barrier(BRANCHES)

    def claim(attempt_id):
        at_once.wait()
        try:
            claims.append(leases.claim_work(attempt_id, f"owner of {attempt_id}", 60))
        finally:
            connection.close()

    threads = [threading.Thread(target=claim, args=(attempt_id,)) for attempt_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one is not None for one in claims] == [True] * BRANCHES
    assert sum(one.refusal is None for one in claims) == admitted
    run.refresh_from_db()
    assert run.tokens_reserved == admitted * SHARE
    assert run.tokens_reserved + run.tokens_spent <= CAP
