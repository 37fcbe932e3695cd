"""From plain data to a run spec, or to everything that is wrong with it at once."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from verifier.scorers import MAX_SCORERS, Scorer, ScorerSpec
from verifier.spec.messages import is_echo, problem_of
from verifier.spec.models import RunSpec
from verifier.spec.plain import plain_data_problems
from verifier.spec.problems import (
    MAX_PROBLEMS,
    WHOLE_DOCUMENT,
    SpecError,
    SpecProblem,
    describe,
    path_of,
)

SCHEMA_ID = "/api/v1/schemas/run-spec.json"

_Scorers = TypeAdapter(tuple[ScorerSpec, ...])


def parse_run_spec(data: object) -> RunSpec:
    """`data` (mappings, lists, text, numbers) as a spec. Raises `SpecError` naming every fault
    with its field path; text with a NUL or a lone surrogate is refused at its path."""
    problems = plain_data_problems(data)
    if problems:
        raise SpecError(problems)
    if not isinstance(data, dict):
        message = f"expected a mapping with a goal, got {describe(data)}"
        raise SpecError([SpecProblem(WHOLE_DOCUMENT, message)])
    problems = [*_problems_across(data)]
    try:
        spec = RunSpec.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise _refusal(error, problems) from None
    if problems:
        raise SpecError(problems)
    return spec


def parse_scorers(data: object, path: str = "scorers") -> tuple[Scorer, ...]:
    """A list of scorer specs alone. Raises `SpecError` with paths such as `scorers[0].value`."""
    problems = [SpecProblem(path + p.path, p.message) for p in plain_data_problems(data)]
    if problems:
        raise SpecError(problems)
    if isinstance(data, list) and len(data) > MAX_SCORERS:
        raise SpecError(
            [SpecProblem(path, f"expected at most {MAX_SCORERS} scorers, got {len(data)}")]
        )
    try:
        return _Scorers.validate_json(json.dumps(data))
    except ValidationError as error:
        raise _refusal(error, prefix=path) from None


def run_spec_schema() -> dict[str, JsonValue]:
    """The published JSON Schema of a run spec."""
    schema: dict[str, JsonValue] = RunSpec.model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **schema,
        "title": "Run spec",
    }


def _refusal(
    error: ValidationError, others: Sequence[SpecProblem] = (), prefix: str = ""
) -> SpecError:
    details = error.errors(include_url=False, include_context=True, include_input=True)
    findings = [detail for detail in details if not is_echo(detail)]
    told = [problem_of(detail) for detail in findings[:MAX_PROBLEMS]]  # words cost time
    told = [SpecProblem(prefix + problem.path, problem.message) for problem in told]
    return SpecError([*told, *others], left_out=len(findings) - len(told))


def _problems_across(data: Mapping[str, Any]) -> Iterator[SpecProblem]:
    """What single fields cannot know; read from the raw data, so that it is told beside their
    faults and not only after they are mended."""
    branches = data.get("branches")
    has_model = data.get("model") is not None
    if branches is None and not has_model:
        yield SpecProblem("model", "required when there are no branches: the root agent needs one")
    for index, branch in enumerate(branches if isinstance(branches, list) else ()):
        if not has_model and _needs_model(branch):
            yield SpecProblem(
                path_of(("branches", index, "worker", "model")),
                "required: neither this branch nor the run names a model",
            )
    if _switched_on(data.get("verifier"), "enabled"):
        yield SpecProblem("verifier.enabled", "the goal verifier is not available: leave it out")
    if _switched_on(data.get("claims"), "extract"):
        yield SpecProblem("claims.extract", "checking claims is not available: leave it out")


def _needs_model(branch: object) -> bool:
    if not isinstance(branch, dict):
        return False
    worker = branch.get("worker", {})
    if not isinstance(worker, dict) or worker.get("kind", "model") != "model":
        return False
    return worker.get("model") is None


def _switched_on(part: object, switch: str) -> bool:
    return isinstance(part, dict) and part.get(switch) is True
