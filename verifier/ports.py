"""The only ways the library reaches the world. Real ones live in the product, fakes in tests."""

from dataclasses import dataclass
from typing import Literal, Protocol

from verifier.lifecycle import StopReason


@dataclass(frozen=True)
class PathFact:
    """What a workspace knows of a path. `refusal` says why it would not look, e.g. "outside the
    workspace"; `size` is in bytes."""

    exists: bool
    kind: Literal["file", "dir", "other"] | None = None
    size: int | None = None
    refusal: str | None = None


class Workspace(Protocol):
    """The files a node works on."""

    def fact(self, path: str) -> PathFact:
        """Facts about a hostile path; never raises for what the path says."""
        ...


class Clock(Protocol):
    """Time for durations."""

    def monotonic_ms(self) -> int: ...


class Control(Protocol):
    """How a running attempt hears that it has to stop, and says that it is alive."""

    def stop_reason(self) -> StopReason | None: ...

    def progress(self, note: str) -> None: ...

    def remaining_s(self) -> float: ...
