"""`swarmui seed --nodes N`: an invented run of any size."""

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from swarmui.management.product_command import ProductCommand, UsageError
from swarmui.management.seeding.invent import invent
from swarmui.management.seeding.store import store

MOST = 200_000


class Command(ProductCommand):
    help = "Store an invented run, for screenshots and benches; its origin says so."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--nodes", type=int, required=True, help=f"1 to {MOST:,}")
        parser.add_argument("--seed", type=int, default=1, help="another number, another story")

    def handle(self, *args: Any, **options: Any) -> None:
        nodes = options["nodes"]
        if not 1 <= nodes <= MOST:
            raise UsageError(f"--nodes: 1 to {MOST:,} expected, {nodes:,} given")
        run = store(invent(nodes, timezone.now(), seed=options["seed"]))
        self.stdout.write(f"{nodes:,} nodes, {run.seq:,} events: run {run.pk}")
