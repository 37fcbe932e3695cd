"""Where a node's time goes: its stages, timed in this process, one node after the other."""

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

#: (what people read, module, function); a stage inside another one is taken out of that one.
STAGES = (
    ("take the lease", "swarmui.services.leases", "claim_work"),
    ("prepare the workspace", "swarmui.execution.rooms", "prepare"),
    ("the program itself", "swarmui.execution.work", "run_command_worker"),
    ("compare the files", "swarmui.execution.rooms", "touched"),
    ("promote the files", "swarmui.execution.rooms", "promote"),
    ("store the end", "swarmui.services.attempts", "record_gates"),
)


class Stopwatch:
    """Time per stage, without the stages inside it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inner = [0.0]

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            self._inner.append(0.0)
            try:
                return function(*args, **kwargs)
            finally:
                whole = time.perf_counter() - started
                own = whole - self._inner.pop()
                self._inner[-1] += whole
                self.seconds[name] = self.seconds.get(name, 0.0) + own

        return timed


def stage_means(launch: Callable[[], Any], runs: int) -> list[tuple[str, float]]:
    """Milliseconds per node and stage, over `runs` runs executed here and by nobody else."""
    from swarmui.execution.work import execute_attempt
    from swarmui.models import Attempt

    watch, nodes = Stopwatch(), 0
    with _nothing_published(), _timed_stages(watch):
        for _ in range(runs):
            run = watch.around("store the run", launch)()
            for attempt in Attempt.objects.filter(node__run=run):
                watch.around("between the stages", execute_attempt)(attempt.pk)
                nodes += 1
    return sorted(
        ((name, 1000 * seconds / nodes) for name, seconds in watch.seconds.items()),
        key=lambda stage: -stage[1],
    )


@contextmanager
def _timed_stages(watch: Stopwatch) -> Iterator[None]:
    from importlib import import_module

    patches = []
    for name, module, function in STAGES:
        original = getattr(import_module(module), function)
        patches.append(patch(f"{module}.{function}", watch.around(name, original)))
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


@contextmanager
def _nothing_published() -> Iterator[None]:
    """The workers of the installation must not take what is timed here."""
    with patch("swarmui.dispatch.poke", return_value=True):
        yield
