"""Is it plain data at all? What no field could tell, for any part of a spec.

Text that no database holds, numbers that are none, keys that are no text, dates and other things a
YAML file can hold, nesting, and aliases that multiply. Source: reliability S10, domain §4.
"""

import math
from collections.abc import Iterator

from verifier.parsing import UNSTORABLE, unstorable_name
from verifier.spec.problems import MAX_PROBLEMS, SpecProblem, path_of

MAX_DEPTH = 64
MAX_VALUES = 50_000  # as many as fit into a megabyte by hand; more is an alias that multiplies
MAX_INTEGER = 2**63 - 1

Path = tuple[str | int, ...]


def plain_data_problems(data: object) -> list[SpecProblem]:
    """Every place that is no plain data, in the order of the document; iterative and bounded."""
    problems: list[SpecProblem] = []
    pending: list[tuple[Path, object]] = [((), data)]
    seen = 0
    while pending and len(problems) < MAX_PROBLEMS:
        path, value = pending.pop()
        seen += 1
        if seen > MAX_VALUES:
            problems.append(SpecProblem("", f"expected at most {MAX_VALUES:,} values in all"))
            break
        if isinstance(value, dict | list) and len(path) >= MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels"
            problems.append(SpecProblem(path_of(path[:3]), message))
            continue
        problem = _fault(value)
        if problem is not None:
            problems.append(SpecProblem(path_of(path), problem))
        pending.extend(reversed(list(_children(path, value, problems))))
    return problems


def _children(
    path: Path, value: object, problems: list[SpecProblem]
) -> Iterator[tuple[Path, object]]:
    if isinstance(value, list):
        for index, item in enumerate(value[: MAX_VALUES + 1]):
            yield (*path, index), item
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                problems.append(SpecProblem(path_of(path), _key_fault(key)))
            elif (fault := _fault(key)) is not None:
                problems.append(SpecProblem(path_of((*path, key)), f"the key {fault}"))
            else:
                yield (*path, key), item


def _key_fault(key: object) -> str:
    return f"expected keys that are text, got one of type {type(key).__name__}: put it in quotes"


def _fault(value: object) -> str | None:
    if isinstance(value, str):
        found = UNSTORABLE.search(value)
        return found and f"contains {unstorable_name(found[0])} at character {found.start() + 1:,}"
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return None
    if isinstance(value, int):
        return None if abs(value) <= MAX_INTEGER else "the number is out of range"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"expected a finite number, got {value}"
    return f"expected plain data, got a value of type {type(value).__name__}: put it in quotes"
