"""Small runs of programs, for tests of the machinery around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def programs(*argvs: Sequence[str], goal: str = "Run programs", **options: Any) -> dict[str, Any]:
    """A run with one branch per program; ``options`` go to every worker."""
    return {
        "goal": goal,
        "branches": [
            {
                "role": f"program {number}",
                "task_brief": f"Run program {number}.",
                "worker": {"kind": "command", "argv": list(argv), **options},
            }
            for number, argv in enumerate(argvs)
        ],
    }
