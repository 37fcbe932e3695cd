"""The run spec: what is accepted, and what is said of everything else."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.scorers import KINDS
from verifier.spec import (
    CommandWorker,
    ModelSpec,
    ModelWorker,
    RunSpec,
    SpecError,
    parse_run_spec,
    parse_scorers,
    run_spec_schema,
)

BRANCH = {"role": "writing", "task_brief": "Write."}
SOLO = {"goal": "Do it", "model": "recorded:m.yaml"}
FULL = {
    "goal": "Write release notes",
    "workspace": {"path": "examples/notes", "mode": "worktree"},
    "model": "openai:gpt-x",
    "economy_model": {"name": "small", "base_url": "http://127.0.0.1:8080/v1"},
    "backup_models": {"docs": "anthropic:c", "": "ollama:l"},
    "contract_retries": 0,
    "budget": {"usd": 2.5, "tokens": 400_000},
    "attended": False,
    "limits": {"wall_clock_s": 36_000, "tokens": 4_000},
    "verifier": {"enabled": False},
    "claims": {"extract": False},
    "branches": [
        {
            "role": "writing",
            "topic": "docs",
            "subtopic": "notes",
            "task_brief": "Write.",
            "expected_output": {"shape": "json", "schema": {"required": ["title"]}},
            "tools": ["filesystem", "shell"],
            "scorers": [
                {"kind": "non_empty"},
                {"kind": "json", "requiredKeys": ["title"], "allowNull": True},
                {"kind": "contains", "value": "x", "on": "notes"},
                {"kind": "file_exists", "path": "notes.md"},
            ],
            "worker": {"kind": "model", "model": "google:g"},
            "limits": {"tokens": 5_000},
        },
        {
            "role": "quality",
            "task_brief": "Check.",
            "worker": {
                "kind": "command",
                "argv": ["python", "-m", "pytest", ""],
                "isolation": "host",
                "env": ["API_KEY"],
            },
        },
    ],
}


def problems_of(data):
    with pytest.raises(SpecError) as caught:
        parse_run_spec(data)
    return {problem.path: problem.message for problem in caught.value.problems}


def is_spec_or_refused(data):
    try:
        return isinstance(parse_run_spec(data), RunSpec)
    except SpecError as error:
        return len(error.problems) > 0


def with_branch(**changes):
    return {**SOLO, "branches": [{**BRANCH, **changes}]}


def test_a_full_spec_is_read_as_it_was_written():
    spec = parse_run_spec(FULL)
    assert spec.economy_model == ModelSpec(name="small", base_url="http://127.0.0.1:8080/v1")
    assert spec.budget.usd_micro == 2_500_000
    model, command = spec.branches
    assert {scorer.kind for scorer in model.scorers} == set(KINDS)
    assert spec.model_for(model) == "google:g"
    assert isinstance(command.worker, CommandWorker)
    assert spec.model_for(command) is None


def test_what_is_left_out_has_its_default():
    spec = parse_run_spec({**SOLO, "branches": [BRANCH]})
    (branch,) = spec.branches
    assert (branch.topic, branch.subtopic, branch.tools) == ("", "", ("filesystem",))
    assert (branch.worker, branch.scorers) == (ModelWorker(), ())
    assert branch.expected_output.shape == "text"
    assert (spec.attended, spec.contract_retries, spec.workspace) == (True, 1, None)
    assert (spec.budget.usd_micro, spec.budget.tokens) == (None, None)
    assert spec.model_for(branch) == "recorded:m.yaml"


@pytest.mark.parametrize("data", [SOLO, FULL, with_branch(tools=[])])
def test_a_stored_spec_is_read_again_as_the_same(data):
    spec = parse_run_spec(data)
    stored = json.loads(json.dumps(spec.model_dump(mode="json", by_alias=True, exclude_unset=True)))
    assert parse_run_spec(stored) == spec


def test_without_branches_the_root_works_alone():
    assert parse_run_spec(SOLO).branches == ()


def test_a_spec_cannot_be_changed_afterwards():
    with pytest.raises(ValueError, match="frozen"):
        parse_run_spec(SOLO).goal = "x"  # type: ignore[misc]


def test_every_fault_is_told_at_once():
    data = {
        "goal": "",
        "model": "nope",
        "budget": {"usd": -1},
        "verifier": {"enabled": True},
        "branches": [
            {**BRANCH, "role": "", "scorers": [{"kind": "contains"}, {"kind": "x"}]},
            {"task_brief": 5, "worker": {"kind": "command", "argv": ["x"], "env": ["-"]}},
        ],
    }
    assert sorted(problems_of(data)) == [
        "branches[0].role",
        "branches[0].scorers[0].value",
        "branches[0].scorers[1].kind",
        "branches[1].role",
        "branches[1].task_brief",
        "branches[1].worker.env[0]",
        "budget.usd",
        "goal",
        "model",
        "verifier.enabled",
    ]


def test_faults_across_fields_are_told_beside_those_of_fields():
    problems = problems_of({"goal": "", "branches": [BRANCH, {**BRANCH, "role": 5}]})
    assert {"goal", "branches[0].worker.model", "branches[1].worker.model"} <= set(problems)


def test_a_faulty_entry_does_not_make_its_list_too_short():
    assert set(problems_of(with_branch(role=""))) == {"branches[0].role"}


def test_the_number_of_faults_is_bounded():
    with pytest.raises(SpecError) as caught:
        parse_run_spec({**SOLO, **{f"k{n}": n for n in range(10_000)}})
    assert len(caught.value.problems) == 100
    assert caught.value.problems[-1].message == "and 9,901 more problems"


@pytest.mark.parametrize("depth", [64, 100_000])
def test_deep_nesting_is_refused(depth):
    nested: object = []
    for _ in range(depth):
        nested = [nested]
    assert any("nested deeper" in message for message in problems_of({"goal": nested}).values())


def test_an_error_speaks_with_paths():
    with pytest.raises(SpecError, match=r"branches\[0\]\.role: required, but missing"):
        parse_run_spec({**SOLO, "branches": [{"task_brief": "x"}]})


def test_hostile_keys_and_values_are_quoted_harmlessly():
    problems = problems_of({**SOLO, "\x1b[31m\u202e" * 100: 1, "attended": "\x1b[2J\n" * 100})
    text = "".join(problems) + "".join(problems.values())
    assert not re.search("[\x00-\x1f\u202e]", text)
    assert len(text) < 700


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*RunSpec.model_fields, "kind", "role", "x"]), inner)
    ),
    max_leaves=20,
)


@given(JSON_LIKE)
def test_any_data_is_a_spec_or_a_spec_error(data):
    assert is_spec_or_refused(data)


def test_scorers_alone_are_read_and_refused_with_index_and_field():
    (scorer,) = parse_scorers([{"kind": "contains", "value": "x"}])
    assert scorer.kind == "contains"
    with pytest.raises(SpecError) as caught:
        parse_scorers([{"kind": "non_empty"}, {"kind": "contains"}, {"kind": "x"}])
    paths = [problem.path for problem in caught.value.problems]
    assert paths == ["scorers[1].value", "scorers[2].kind"]


@pytest.mark.parametrize("data", [None, {}, [1] * 21, ["\x00"], [{"kind": "contains"}]])
def test_scorers_that_are_none_are_refused(data):
    with pytest.raises(SpecError, match="scorers"):
        parse_scorers(data)


def test_the_published_schema_speaks_the_published_names():
    schema = run_spec_schema()
    assert schema["$id"] == "/api/v1/schemas/run-spec.json"
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["goal"]
    text = json.dumps(schema)
    for name in ("requiredKeys", "task_brief", "expected_output", "in_place", "code-diff", *KINDS):
        assert f'"{name}"' in text
    assert '"required_keys"' not in text
    assert '"json_schema"' not in text
    branches = schema["properties"]["branches"]
    assert (branches["minItems"], branches["maxItems"]) == (1, 8)
