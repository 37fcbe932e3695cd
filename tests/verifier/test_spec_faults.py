"""What is said of each fault in a run spec, and where."""

import math
from datetime import date

import pytest

from verifier.spec import SpecError, parse_run_spec

BRANCH = {"role": "writing", "task_brief": "Write."}
SOLO = {"goal": "Do it", "model": "recorded:m.yaml"}


def problems_of(data):
    with pytest.raises(SpecError) as caught:
        parse_run_spec(data)
    return {problem.path: problem.message for problem in caught.value.problems}


def with_branch(**changes):
    return {**SOLO, "branches": [{**BRANCH, **changes}]}


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        (None, "", "expected a mapping with a goal, got null"),
        ([], "", "expected a mapping with a goal, got a list of 0"),
        ("goal", "", 'expected a mapping with a goal, got the text "goal"'),
        ({"model": "openai:x"}, "goal", "required, but missing"),
        ({**SOLO, "goal": ""}, "goal", "expected at least 1 character, got an empty text"),
        ({**SOLO, "goal": " \u200b\n"}, "goal", "expected text that can be seen, got only blanks"),
        ({**SOLO, "goal": "x" * 20_001}, "goal", "expected at most 20,000 characters, got 20,001"),
        ({**SOLO, "goal": 2.4}, "goal", "expected text, got the number 2.4"),
        ({**SOLO, "goal": ["x"]}, "goal", "expected text, got a list of 1"),
        ({**SOLO, "brnches": []}, "brnches", "unknown key; did you mean branches?"),
        ({**SOLO, "zzz": 1}, "zzz", "unknown key"),
        ({**SOLO, "my key": 1}, '["my key"]', "unknown key"),
        ({**SOLO, "attended": 1}, "attended", "expected true or false, got the number 1"),
        ({**SOLO, "attended": "yes"}, "attended", 'expected true or false, got the text "yes"'),
        # true is not 1
        ({**SOLO, "contract_retries": True}, "contract_retries", "a whole number, got true"),
        ({**SOLO, "contract_retries": 4}, "contract_retries", "at most 3, got the number 4"),
        ({**SOLO, "contract_retries": -1}, "contract_retries", "at least 0, got the number -1"),
        ({**SOLO, "contract_retries": 1.0}, "contract_retries", "expected a whole number"),
        ({**SOLO, "budget": {"usd": -1}}, "budget.usd", "expected at least 0, got the number -1"),
        ({**SOLO, "budget": {"usd": "2"}}, "budget.usd", 'expected a number, got the text "2"'),
        ({**SOLO, "budget": {"tokens": 1.5}}, "budget.tokens", "expected a whole number"),
        ({**SOLO, "budget": 5}, "budget", "expected a mapping, got the number 5"),
        ({**SOLO, "limits": {"wall_clock_s": 0}}, "limits.wall_clock_s", "at least 1,"),
        ({**SOLO, "limits": {"wall_clock_s": 36_001}}, "limits.wall_clock_s", "at most 36,000"),
        ({**SOLO, "limits": {"tokens": 3_999}}, "limits.tokens", "expected at least 4,000, got"),
        ({**SOLO, "workspace": {}}, "workspace.path", "required, but missing"),
        ({**SOLO, "workspace": {"path": ""}}, "workspace.path", "expected at least 1 character"),
        (
            {**SOLO, "workspace": {"path": "x", "mode": "link"}},
            "workspace.mode",
            'expected copy, worktree or in_place, got the text "link"',
        ),
        ({**SOLO, "branches": []}, "branches", "expected at least 1 entry, got 0"),
        ({**SOLO, "branches": [BRANCH] * 9}, "branches", "expected at most 8 entries, got 9"),
        ({**SOLO, "branches": None}, "branches", "expected a list, got null"),
        ({**SOLO, "branches": {"a": BRANCH}}, "branches", "expected a list, got a mapping"),
        ({**SOLO, "branches": [7]}, "branches[0]", "expected a mapping, got the number 7"),
        (with_branch(role=""), "branches[0].role", "expected at least 1 character"),
        (with_branch(role="a\nb"), "branches[0].role", "expected one line, got several"),
        (with_branch(role="x" * 81), "branches[0].role", "expected at most 80 characters, got 81"),
        (with_branch(topic="a\u2028b"), "branches[0].topic", "expected one line, got several"),
        (
            with_branch(task_brief="x" * 20_001),
            "branches[0].task_brief",
            "expected at most 20,000 characters, got 20,001",
        ),
        (with_branch(tools=["web"]), "branches[0].tools[0]", "expected filesystem or shell, got"),
        (with_branch(tools=["shell", "shell"]), "branches[0].tools", "listed twice: shell"),
        (with_branch(tools="shell"), "branches[0].tools", "expected a list, got the text"),
        (
            with_branch(scorers=[{"kind": "non_empty"}] * 21),
            "branches[0].scorers",
            "expected at most 20 entries, got 21",
        ),
        (
            with_branch(scorers=[{"kind": "regex", "pattern": "x"}]),
            "branches[0].scorers[0].kind",
            "expected one of the kinds non_empty, contains, json, file_exists, got the text",
        ),
        # what the framework adds by itself cannot be asked for
        (
            with_branch(scorers=[{"kind": "tool_outage"}]),
            "branches[0].scorers[0].kind",
            "expected one of the kinds",
        ),
        (with_branch(scorers=[{}]), "branches[0].scorers[0]", "got no kind"),
        (with_branch(scorers=[5]), "branches[0].scorers[0]", "expected a mapping with a kind, got"),
        (with_branch(scorers=[{"kind": ["json"]}]), "branches[0].scorers[0]", "one of the kinds"),
        (
            with_branch(scorers=[{"kind": "non_empty"}, {"kind": "contains"}]),
            "branches[0].scorers[1].value",
            "required, but missing",
        ),
        (
            with_branch(scorers=[{"kind": "json", "requiredkeys": ["a"]}]),
            "branches[0].scorers[0].requiredkeys",
            "unknown key; did you mean requiredKeys?",
        ),
        (
            with_branch(scorers=[{"kind": "json", "requiredKeys": ["a", 1]}]),
            "branches[0].scorers[0].requiredKeys[1]",
            "expected text, got the number 1",
        ),
        (
            with_branch(expected_output={"shape": "xml"}),
            "branches[0].expected_output.shape",
            "expected text, json or code-diff, got",
        ),
        (
            with_branch(expected_output={"shape": "json", "schema": {"required": "title"}}),
            "branches[0].expected_output.schema",
            "expected `required` to list keys",
        ),
        (with_branch(worker={"kind": "magic"}), "branches[0].worker.kind", "model, command, got"),
        (with_branch(worker={}), "branches[0].worker", "got no kind"),
        (with_branch(worker="model"), "branches[0].worker", "expected a mapping with a kind"),
        (
            with_branch(worker={"kind": "command"}),
            "branches[0].worker.argv",
            "required, but missing",
        ),
        (
            with_branch(worker={"kind": "command", "argv": []}),
            "branches[0].worker.argv",
            "expected at least 1 entry, got 0",
        ),
        (
            with_branch(worker={"kind": "command", "argv": "rm -rf /"}),  # no string for a shell
            "branches[0].worker.argv",
            "expected a list, got the text",
        ),
        (
            with_branch(worker={"kind": "command", "argv": ["", "x"]}),
            "branches[0].worker.argv",
            "expected a program's name",
        ),
        (
            with_branch(worker={"kind": "command", "argv": ["x"] * 65}),
            "branches[0].worker.argv",
            "expected at most 64 entries, got 65",
        ),
        (
            with_branch(worker={"kind": "command", "argv": ["x" * 8_193]}),
            "branches[0].worker.argv",
            "expected at most 8,192 characters in all, got 8,193",
        ),
        (
            with_branch(worker={"kind": "command", "argv": ["x"], "env": ["A=B"]}),
            "branches[0].worker.env[0]",
            "expected the name of an environment variable",
        ),
        (
            with_branch(worker={"kind": "command", "argv": ["x"], "isolation": "none"}),
            "branches[0].worker.isolation",
            "expected sandbox or host, got",
        ),
        (
            with_branch(worker={"kind": "model", "argv": ["x"]}),
            "branches[0].worker.argv",
            "unknown key",
        ),
        ({**SOLO, "model": 5}, "model", "expected a model's name, or a mapping with name and base"),
        ({**SOLO, "model": "gpt-x"}, "model", "begins with one of recorded:, openai:, anthropic:"),
        ({**SOLO, "model": "openai:"}, "model", "begins with one of recorded:"),
        ({**SOLO, "model": "mistral:x"}, "model", "begins with one of recorded:"),
        ({**SOLO, "model": {"name": "m"}}, "model", "begins with one of recorded:"),
        (
            {**SOLO, "model": {"name": "m", "base_url": "file:///etc"}},
            "model.base_url",
            "expected http(s)://",
        ),
        (
            {**SOLO, "model": {"name": "m", "base_url": "http://u:key@host/v1"}},
            "model.base_url",
            "user names, keys, queries and fragments do not belong into an address",
        ),
        ({**SOLO, "model": {"name": "m", "base_url": "http://[x"}}, "model.base_url", "http(s)://"),
        (
            {**SOLO, "model": {"name": "m", "base_url": "http://h:99999/"}},
            "model.base_url",
            "http(s)://",
        ),
        ({**SOLO, "backup_models": {"docs": "x"}}, "backup_models.docs", "begins with one of"),
        ({"goal": "x"}, "model", "required when there are no branches: the root agent needs one"),
        (
            {"goal": "x", "branches": [BRANCH]},
            "branches[0].worker.model",
            "required: neither this branch nor the run names a model",
        ),
        ({**SOLO, "constitution": "default@1"}, "constitution", "constitutions are not available"),
        ({**SOLO, "verifier_model": "x"}, "verifier_model", "the goal verifier is not available"),
        (
            {**SOLO, "verifier": {"enabled": True}},
            "verifier.enabled",
            "the goal verifier is not available: leave it out",
        ),
        (
            {**SOLO, "verifier": {"max_repair_rounds": 1}},
            "verifier.max_repair_rounds",
            "the goal verifier is not available",
        ),
        ({**SOLO, "claims": {"extract": True}}, "claims.extract", "checking claims is not"),
        # plain data: what no field could tell
        ({**SOLO, "goal": "a\x00"}, "goal", "contains a NUL character at character 2"),
        (
            with_branch(task_brief="\ud800"),
            "branches[0].task_brief",
            "contains the lone surrogate U+D800 at character 1",
        ),
        (
            with_branch(scorers=[{"kind": "file_exists", "path": "a\x00"}]),
            "branches[0].scorers[0].path",
            "contains a NUL character",
        ),
        ({**SOLO, "budget": {"usd": math.nan}}, "budget.usd", "expected a finite number, got nan"),
        ({**SOLO, "budget": {"usd": math.inf}}, "budget.usd", "expected a finite number, got inf"),
        ({**SOLO, "budget": {"tokens": 10**5_000}}, "budget.tokens", "the number is out of range"),
        ({**SOLO, 3: 4}, "", "expected keys that are text, got one of type int"),
        ({**SOLO, "a\x00": 1}, '["a␀"]', "the key contains a NUL character"),
        ({**SOLO, "goal": date(2024, 1, 1)}, "goal", "got a value of type date: put it in quotes"),
        ({**SOLO, "goal": b"x"}, "goal", "got a value of type bytes"),
        ({**SOLO, "zzz": [[]] * 60_000}, "", "expected at most 50,000 values in all"),
    ],
)
def test_a_fault_is_named_with_its_path(data, path, message):
    problems = problems_of(data)
    assert path in problems, problems
    assert message in problems[path]
    assert len(problems[path]) < 300
