"""The filters of the list of runs: read from the address, written back into it."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

from swarmui.selectors.runs import RunFilter
from swarmui.views.vocabulary import StatusWord, status_word
from verifier.lifecycle import NodeStatus

MAX_SEARCH = 200

# What one looks for in a list: what goes on, what ended well, how it ended badly.
OFFERED = (
    NodeStatus.RUNNING,
    NodeStatus.WAITING,
    NodeStatus.OK,
    NodeStatus.CONTRACT_FAILED,
    NodeStatus.TOOL_ERROR,
    NodeStatus.PROVIDER_ERROR,
    NodeStatus.TIMEOUT,
    NodeStatus.BUDGET,
    NodeStatus.LOST,
    NodeStatus.CANCELLED,
)


@dataclass(frozen=True)
class Chip:
    """One filter as a link: choosing it again takes it away."""

    word: StatusWord
    url: str
    is_on: bool


def filter_of(query: Any) -> RunFilter:
    """The filter an address asks for; what is not understood filters nothing."""
    return RunFilter(
        status=_status(query.get("status", "")),
        failed=_status(query.get("failed", "")),
        q=query.get("q", "").replace("\0", "").strip()[:MAX_SEARCH],
        after=_id(query.get("after", "")),
    )


def unknown_statuses(query: Any) -> list[str]:
    """The statuses an address asks for that there are not: said, for they filter nothing."""
    asked = (query.get(name, "") for name in ("status", "failed"))
    return [text for text in asked if text and _status(text) is None]


def query_of(wanted: RunFilter, after: UUID | None = None, **change: Any) -> str:
    """A filter as a query string, for a page of its results."""
    parts = {"status": wanted.status, "failed": wanted.failed, "q": wanted.q, "after": after}
    parts |= change
    return urlencode({name: value for name, value in parts.items() if value})


def address(wanted: RunFilter, **change: Any) -> str:
    """The address of the list under a filter."""
    query = query_of(wanted, **change)
    return f"{reverse('runs')}?{query}" if query else reverse("runs")


def chips(wanted: RunFilter) -> list[Chip]:
    """The status filters that are offered, and the one in the address if it is another."""
    codes = OFFERED if wanted.status in (None, *OFFERED) else (*OFFERED, wanted.status)
    return [_chip(wanted, code) for code in codes]


def _chip(wanted: RunFilter, code: NodeStatus) -> Chip:
    is_on = wanted.status == code
    return Chip(status_word(code), address(wanted, status=None if is_on else code), is_on)


def _status(text: str) -> NodeStatus | None:
    return NodeStatus(text) if text in frozenset(NodeStatus) else None


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
