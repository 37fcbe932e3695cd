"""Proof that the record is whole: the hash chain, and the fold against the stored rows."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from swarmui.models import LedgerEvent, Run
from swarmui.selectors.tree import COLUMNS, folded, row_of_folded, skeleton
from verifier.ledger import GENESIS, Link, chain_faults


@dataclass(frozen=True)
class LedgerCheck:
    """What was found about one run's ledger. No faults: it is whole."""

    run_id: uuid.UUID
    seq: int
    faults: tuple[str, ...]


def check_run(run_id: uuid.UUID) -> LedgerCheck:
    """Checks a run's chain, its head, and that folding it gives the stored tree."""
    run = Run.objects.get(pk=run_id)
    head = [GENESIS, 0]

    def links() -> Iterator[Link]:
        rows = LedgerEvent.objects.filter(run_id=run_id, seq__lte=run.seq).order_by("seq")
        for row in rows.iterator(chunk_size=2_000):
            head[:] = [row.hash, row.seq]
            yield Link(row.fact(), row.prev_hash, row.hash)

    faults = chain_faults(str(run_id), links())
    if head != [run.chain_head, run.seq]:
        faults.append(f"the run's head is seq {run.seq}, its last row is seq {head[1]}")
    faults.extend(_fold_faults(run_id))
    return LedgerCheck(run_id, run.seq, tuple(faults))


def _fold_faults(run_id: uuid.UUID) -> list[str]:
    stored = {row[0]: row for row in skeleton(run_id)["rows"]}
    tree = folded(run_id)
    told = {node.id: row_of_folded(node) for node in tree.nodes.values()}
    faults = list(tree.problems)
    for node_id in sorted(stored.keys() | told.keys()):
        if node_id not in stored or node_id not in told:
            where = "rows" if node_id in stored else "ledger"
            faults.append(f"node {node_id}: only in the {where}")
            continue
        faults += [
            f"node {node_id}: {column} is {is_!r} in the rows, {was!r} in the ledger"
            for column, is_, was in zip(COLUMNS, stored[node_id], told[node_id], strict=True)
            if is_ != was
        ]
    return faults
