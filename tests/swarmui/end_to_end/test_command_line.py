"""The command line on a running product, embedded and in production."""

from __future__ import annotations

import json
import re

from tests.support.installation import Installation

DEMO = "examples/notes/spec.yaml"


def test_a_run_is_seen_through_to_its_end(installation: Installation) -> None:
    done = installation.cli("run", DEMO, "--wait", "--json")
    document = json.loads(done.stdout)
    assert (document["status"], done.returncode) == ("ok", 0), done.stderr
    assert document["not_verified"] is True
    statuses = sorted(node["status"] for node in document["nodes"])
    assert statuses == ["ok", "ok", "ok", "ok", "ok", "ok", "tool_error"]
    checked = installation.cli("ledger", "verify", document["id"][:13])
    assert (checked.returncode, "whole" in checked.stdout) == (0, True), checked.stdout


def test_the_api_takes_the_token_that_the_command_line_makes(installation: Installation) -> None:
    made = installation.cli("token", "create", "probe", "--role", "viewer")
    key = made.stdout.split()[-1]
    assert re.fullmatch(r"sd_[0-9a-f]{72}", key)
    with_it = installation.ask("GET", "/api/v1/runs", headers={"Authorization": f"Bearer {key}"})
    assert with_it.status == 200
    assert installation.get("/api/v1/runs").status == 401
