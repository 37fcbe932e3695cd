"""Gates nobody asked for: what the shape demands, and the tool outage."""

import pytest
from pydantic import ValidationError

from verifier.receipt import SideEffects
from verifier.scorers import (
    DERIVED_KINDS,
    EVIDENCE_UNKNOWN,
    KINDS,
    ExpectedOutput,
    ScorerOutcome,
    derived_scorers,
    run_scorers,
)
from verifier.scorers.files_changed import FilesChanged
from verifier.scorers.json_document import JsonDocument
from verifier.scorers.non_empty import NonEmpty
from verifier.scorers.tool_outage import ToolOutage


def expected(shape, schema=None):
    return ExpectedOutput(shape=shape, schema=schema)


@pytest.mark.parametrize(
    ("output", "specs", "kinds"),
    [
        (None, [], ["tool_outage"]),
        (expected("text"), [], ["tool_outage"]),
        (expected("text", {"required": ["a"]}), [], ["tool_outage"]),  # a text has no keys
        (expected("json"), [], ["tool_outage"]),  # no schema, nothing to check it against
        (expected("json", {"required": ["a"]}), [], ["json", "tool_outage"]),
        (expected("json", {"type": "object"}), [], ["json", "tool_outage"]),
        (expected("json", {"required": ["a"]}), [NonEmpty()], ["json", "tool_outage"]),
        # the explicit gate already demands as much
        (
            expected("json", {"required": ["a"]}),
            [JsonDocument(requiredKeys=("a", "b"))],
            ["tool_outage"],
        ),
        # … or less
        (
            expected("json", {"required": ["a", "b"]}),
            [JsonDocument(requiredKeys=("a",))],
            ["json", "tool_outage"],
        ),
        (expected("code-diff"), [], ["files_changed", "tool_outage"]),
    ],
)
def test_the_expected_output_adds_its_gates(output, specs, kinds):
    assert [spec.kind for spec in derived_scorers(output, specs)] == kinds


def test_the_schemas_required_keys_are_the_derived_gate(context):
    gates = derived_scorers(expected("json", {"required": ["title", "body"]}), [])
    report = run_scorers(gates, context('{"title": 1}'))
    assert [failure.reason for failure in report.failures] == ["missing required keys: body"]


@pytest.mark.parametrize("required", ["a", [1], [""], ["x" * 201], [f"k{n}" for n in range(51)]])
def test_a_schema_whose_required_is_no_list_of_keys_is_refused(required):
    with pytest.raises(ValidationError):
        expected("json", {"required": required})


@pytest.mark.parametrize(
    ("calls", "errors", "outcome"),
    [
        (0, 0, ScorerOutcome.PASSED),  # it used no tool: nothing was out of order
        (1, 0, ScorerOutcome.PASSED),
        (1, 9, ScorerOutcome.PASSED),
        (0, 1, ScorerOutcome.FAILED),
        (0, 9, ScorerOutcome.FAILED),
    ],
)
def test_an_outage_is_errors_and_no_success(context, calls, errors, outcome):
    counts = SideEffects(toolCalls=calls, toolErrors=errors)
    finding = ToolOutage().score(context(side_effects=counts))
    assert finding.outcome is outcome
    assert finding.retryable is (outcome is ScorerOutcome.FAILED)


def test_an_outage_nobody_could_count_is_not_evaluated(context):
    report = run_scorers([ToolOutage()], context("x", side_effects=None))
    assert [r.outcome for r in report.results] == [ScorerOutcome.NOT_EVALUATED]
    assert report.ran == 0
    assert report.passed


@pytest.mark.parametrize(
    ("counts", "touched", "outcome", "is_known"),
    [
        (SideEffects(filesChanged=1), None, ScorerOutcome.PASSED, True),
        (SideEffects(filesChanged=1), 0, ScorerOutcome.PASSED, True),
        (SideEffects(), 2, ScorerOutcome.PASSED, True),  # written through a shell, and measured
        (None, 1, ScorerOutcome.PASSED, True),
        (SideEffects(), None, ScorerOutcome.FAILED, True),
        (SideEffects(), 0, ScorerOutcome.FAILED, True),
        (SideEffects(commandsRun=1), 0, ScorerOutcome.FAILED, True),
        (None, 0, ScorerOutcome.FAILED, True),  # measured, and nothing differs
        (SideEffects(commandsRun=1), None, ScorerOutcome.PASSED, False),
        (None, None, ScorerOutcome.PASSED, False),
    ],
)
def test_a_code_diff_needs_a_changed_file(context, counts, touched, outcome, is_known):
    report = run_scorers([FilesChanged()], context(side_effects=counts, files_touched=touched))
    (result,) = report.results
    assert result.outcome is outcome
    assert (result.observed != EVIDENCE_UNKNOWN) is is_known
    assert report.evidence_unknown is not is_known


def test_no_spec_can_name_a_derived_kind():
    assert not set(KINDS) & set(DERIVED_KINDS)
    for kinds in (KINDS, DERIVED_KINDS):
        assert all(kind.model_fields["kind"].default == name for name, kind in kinds.items())
