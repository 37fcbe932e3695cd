"""A run's tokens and money: reserved before an attempt begins, settled when it ended.

The run's row is locked in between, so that attempts admitted at once never overshoot together.
"""

from django.db.models import F, Sum
from django.utils import timezone

from swarmui.models import Attempt, Node, Run
from verifier.budget import token_cap
from verifier.lifecycle import WorkerKind


def reserve(attempt: Attempt) -> str | None:
    """Reserves the attempt's cap, inside the claim's transaction. Returns why it cannot be
    afforded, or None. Programs use no tokens and reserve none."""
    if attempt.worker_kind == WorkerKind.COMMAND:
        return None
    run = Run.objects.select_for_update(no_key=True).get(pk=attempt.node.run_id)
    left = tokens_left(run)
    cap = token_cap(attempt.node.depth, node_tokens_left(attempt.node), left)
    if cap is None:
        return _too_few(attempt, left)
    if run.usd_cap_micro is not None and run.usd_spent_micro >= run.usd_cap_micro:
        return "the run's money is spent"
    Run.objects.filter(pk=run.pk).update(tokens_reserved=F("tokens_reserved") + cap)
    attempt.token_cap = cap
    attempt.save(update_fields=["token_cap"])
    return None


def tokens_left(run: Run) -> int | None:
    """What the run may still promise; None when it has no cap."""
    if run.token_cap is None:
        return None
    return max(0, run.token_cap - run.tokens_spent - run.tokens_reserved)


def _too_few(attempt: Attempt, left: int | None) -> str:
    own = node_tokens_left(attempt.node)
    whose, number = ("node", own) if left is None or own < left else ("run", left)
    return f"{number} tokens of the {whose}'s budget left, too few to begin"


def node_tokens_left(node: Node) -> int:
    """What the node's earlier attempts have left of its own tokens."""
    used = node.attempts.aggregate(used=Sum("tokens_used"))["used"] or 0
    return max(0, node.orders.tokens - used)


def seconds_left(node: Node) -> float:
    """What is left of the node's wall clock, over all its attempts."""
    if node.started_at is None:
        return node.orders.wall_clock_s
    return node.orders.wall_clock_s - (timezone.now() - node.started_at).total_seconds()


def settle(attempt: Attempt) -> None:
    """Gives the reservation back and charges what was used. Once per attempt, in the transaction
    that ends it. An attempt that reported nothing is counted as unmetered, not as zero: a program
    may be an agent with a model of its own. One that could not be afforded has used nothing."""
    if attempt.worker_kind == WorkerKind.MODEL and attempt.token_cap is None:
        return
    Run.objects.filter(pk=attempt.node.run_id).update(
        tokens_reserved=F("tokens_reserved") - (attempt.token_cap or 0),
        tokens_spent=F("tokens_spent") + (attempt.tokens_used or 0),
        unmetered_attempts=F("unmetered_attempts") + int(attempt.tokens_used is None),
        usd_spent_micro=F("usd_spent_micro") + (attempt.cost_micro_usd or 0),
        unpriced_attempts=F("unpriced_attempts") + int(attempt.cost_micro_usd is None),
    )
