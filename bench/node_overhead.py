"""Overhead per node: runs of 8 trivial command branches beside the same commands as bare tasks.

    python -m bench.node_overhead [--runs 125] [--rounds 5] [--isolation host]

Runs and bare tasks take turns within one process set, so that a busy machine is busy for both.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.ground import production
from bench.table import print_table
from tests.support.installation import Installation
from tests.waiting import wait_until

BRANCHES = 8
CONCURRENCY = 2
LIMIT_S = 1_800


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=125, help="runs in all, of 8 branches each")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side")
    parser.add_argument("--isolation", choices=("host", "sandbox"), default="host")
    options = parser.parse_args()
    rounds = max(1, min(options.rounds, options.runs))
    with production(workers=1, concurrency=CONCURRENCY) as installation:
        measure(installation, max(1, options.runs // rounds), rounds, options.isolation)


def measure(installation: Installation, runs: int, rounds: int, isolation: str) -> None:
    from bench.stages import stage_means

    bare = installation.add(
        "bare", "celery", "--app=bench.bare", "worker", "--loglevel=WARNING",
        f"--concurrency={CONCURRENCY}", "--without-gossip", "--without-mingle",
    )  # fmt: skip
    bare.start()
    _bare_tasks(BRANCHES, isolation)
    _runs(1, isolation)
    commits, spent = _commits(), []
    own: list[float] = []
    for _ in range(rounds):
        own.append(_timed(_bare_tasks, runs * BRANCHES, isolation))
        spent.append(_timed(_runs, runs, isolation))
    nodes = runs * BRANCHES
    bare_s, runs_s, each = sum(own), sum(spent), 1000 / (nodes * rounds)
    print_table(
        f"{rounds} rounds of {runs} runs × {BRANCHES} branches, isolation {isolation}, "
        f"{CONCURRENCY} worker processes",
        ("", "wall s", "ms per command", "ratio"),
        [
            ("bare Celery tasks", bare_s, bare_s * each, 1.0),
            ("nodes of runs", runs_s, runs_s * each, runs_s / bare_s),
        ],
    )
    ratios = [mine / yardstick for mine, yardstick in zip(spent, own, strict=True)]
    print(f"ratio per round: median {statistics.median(ratios):.2f}, "
          f"{min(ratios):.2f} to {max(ratios):.2f}")  # fmt: skip
    per_node = (_commits() - commits) / (nodes * rounds)
    print(f"commits per node, sweep and web included: {per_node:.1f}")
    stages = stage_means(lambda: _launch(isolation), 5)
    whole = sum(ms for _, ms in stages)
    print_table(
        "where one node's time goes (in this process, 40 nodes)",
        ("stage", "ms per node", "share"),
        [(name, ms, f"{100 * ms / whole:.0f} %") for name, ms in stages],
    )


def _timed(work: Callable[[int, str], None], count: int, isolation: str) -> float:
    started = time.perf_counter()
    work(count, isolation)
    return time.perf_counter() - started


def _bare_tasks(count: int, isolation: str) -> None:
    from bench.bare import DONE_KEY, command, counter

    before = int(counter().get(DONE_KEY) or 0)
    for _ in range(count):
        command.apply_async((isolation,))
    wait_until(
        lambda: int(counter().get(DONE_KEY) or 0) >= before + count,
        LIMIT_S,
        what=f"{count} bare tasks",
        interval=0.01,
    )


def _runs(count: int, isolation: str) -> None:
    from swarmui.models import Node
    from verifier.lifecycle import TERMINAL, NodeStatus

    ids = [_launch(isolation).pk for _ in range(count)]
    roots = Node.objects.filter(run_id__in=ids, parent=None)
    wait_until(
        lambda: roots.filter(status__in=sorted(TERMINAL)).count() == count,
        LIMIT_S,
        what=f"{count} runs",
        interval=0.05,
    )
    failed = Node.objects.filter(run_id__in=ids).exclude(status=NodeStatus.OK).count()
    if failed:
        raise SystemExit(f"{failed} nodes did not end ok: this measures nothing")


def _launch(isolation: str) -> Any:
    from bench.bare import COMMAND
    from swarmui.execution.launch import launch_run
    from verifier.spec import parse_run_spec

    branch = {
        "role": "bench",
        "task_brief": "do nothing",
        "tools": [],
        "worker": {"kind": "command", "argv": list(COMMAND), "isolation": isolation},
    }
    spec = parse_run_spec({"goal": "measure", "branches": [branch] * BRANCHES})
    return launch_run(spec, origin="bench", roots=None, cwd=Path.cwd()).run


def _commits() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        )
        row = cursor.fetchone()
    return int(row[0]) if row else 0


if __name__ == "__main__":
    main()
