"""The shapes of the answers, as the OpenAPI document shows them.

Answers are written from plain rows, not through these models; a test holds the two together.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict, Field

from swarmui.api.problems import Problem
from verifier.lifecycle import NodeKind, NodeStatus
from verifier.receipt import Receipt


def errors_of(*statuses: int) -> dict[int, type[Problem]]:
    """The statuses an operation may answer instead, all in the one shape."""
    return dict.fromkeys((*statuses, 500), Problem)


class _Open(Schema):
    """More keys may be there than are promised here."""

    model_config = ConfigDict(extra="allow")


class Amount(_Open):
    """One budget: what may be used, what is set aside for running work, what was used."""

    cap: float | None = Field(description="null: no cap")
    reserved: float | None
    spent: float | None


class Budget(_Open):
    """Money in US dollars, and tokens."""

    usd: Amount
    tokens: Amount


class GateFailure(_Open):
    """One failed scorer of an attempt."""

    scorer: str
    reason: str | None
    retryable: bool


class Gates(_Open):
    """What the gates said. `notEvaluated` is neither passed nor failed."""

    passed: bool
    ran: int
    failures: list[GateFailure]
    notEvaluated: list[Any]  # noqa: N815  (the published key)


class AttemptDocument(_Open):
    """One execution of a node. `outcome` is null while it runs, `scorers` while no gate ran."""

    number: int
    outcome: NodeStatus | None
    worker: str
    brief: str
    output: Any
    notes: str | None
    receipt: Receipt | None
    scorers: Gates | None


class NodeDocument(_Open):
    """A node with all its attempts."""

    id: UUID
    parent: UUID | None
    retry_of: UUID | None
    kind: NodeKind
    depth: int
    branch: int | None
    role: str
    topic: str
    status: NodeStatus
    chosen_attempt: int | None
    chosen_because: str | None
    marks: list[str]
    attempts: list[AttemptDocument]


class NodeDetail(NodeDocument):
    """A node, and what crossed the tool boundary in each of its attempts."""


class RunDocument(_Open):
    """A run. `nodes` is there with `?include=nodes`. `not_verified`: nothing was checked."""

    id: UUID
    goal: str
    status: NodeStatus
    seq: int = Field(description="The last event this answer has seen.")
    not_verified: bool
    gate: str | None = Field(description="null while no claims were checked")
    budget: Budget
    node_count: int
    nodes: list[NodeDocument] | None = Field(None, description="All of them, if included.")


class RunPage(_Open):
    """Runs, newest first. `next` goes into `after` for the page behind; null: there is none."""

    runs: list[RunDocument]
    next: UUID | None


class Rows(Schema):
    """Nodes as arrays, in the order of `columns`; parents stand before their children."""

    seq: int
    columns: list[str]
    rows: list[list[Any]]


class EventDocument(_Open):
    """One entry of the ledger."""

    seq: int
    subject: str
    subject_id: UUID
    event: str
    attempt: int | None
    payload: dict[str, Any]
    actor: str
    at: datetime
    hash: str


class EventPage(_Open):
    """Events in their order. Ask on after the last one's seq until it is the run's `seq`."""

    seq: int
    events: list[EventDocument]
