"""`swarmui ledger verify [RUN]` and `swarmui ledger replay RUN [--at SEQ] [--json]`."""

import sys
from argparse import ArgumentParser
from typing import Any

from swarmui.management.product_command import ProductCommand, UsageError, run_called
from swarmui.management.tree_text import tree_lines
from swarmui.models import Run
from swarmui.selectors.ledger import check_run
from swarmui.selectors.tree import folded, skeleton_at
from verifier.framing import one_line

FAULT_CHARS = 400


class Command(ProductCommand):
    help = "Check runs' ledgers, or show a run's tree as its ledger tells it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="verify|replay")
        verify = actions.add_parser(
            "verify", help="check the hash chain, and that folding the events gives the rows"
        )
        verify.add_argument(
            "run", nargs="?", help="a run's id, or how it begins; all runs if left out"
        )
        replay = actions.add_parser("replay", help="show the tree, folded from the events")
        replay.add_argument("run", help="a run's id, or how it begins")
        replay.add_argument("--at", type=int, metavar="SEQ", help="as it was after this event")
        replay.add_argument("--json", action="store_true", help="as one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "verify":
            self._verify(options["run"])
        else:
            self._replay(options["run"], options["at"], as_json=options["json"])

    def _verify(self, name: str | None) -> None:
        if name is None:
            ids = list(Run.objects.order_by("id").values_list("pk", flat=True))
        else:
            ids = [run_called(name).pk]
        broken = 0
        for run_id in ids:
            check = check_run(run_id)
            broken += bool(check.faults)
            verdict = f"{len(check.faults)} faults" if check.faults else "whole"
            self.stdout.write(f"{run_id}  seq {check.seq:>7,}  {verdict}")
            for fault in check.faults:
                self.stdout.write(f"  {one_line(fault, FAULT_CHARS)}")
        if name is None:
            self.stdout.write(f"{len(ids) - broken} of {len(ids)} ledgers are whole")
        if broken:
            sys.exit(1)

    def _replay(self, name: str, at: int | None, *, as_json: bool) -> None:
        run = run_called(name)
        if at is not None and not 0 <= at <= run.seq:
            raise UsageError(f"--at: 0 to {run.seq} expected, {at} given")
        tree = skeleton_at(run.pk, run.seq if at is None else at)
        problems = list(folded(run.pk, at).problems)
        if as_json:
            self.print_json({"run": str(run.pk), **tree, "problems": problems})
        else:
            for line in tree_lines(tree["rows"]):
                self.stdout.write(line)
            self.stdout.write(f"seq {tree['seq']} of {run.seq}")
            for problem in problems:
                self.stdout.write(f"problem: {one_line(problem, FAULT_CHARS)}")
        if problems:
            sys.exit(1)
