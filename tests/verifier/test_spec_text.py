"""A spec file's text: YAML as YAML 1.2 reads it, or JSON; bounded, without surprises."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.spec import RunSpec, SpecError, load_spec_text

SOLO_YAML = "goal: g\nmodel: openai:x\n"


def problem_of_text(text):
    with pytest.raises(SpecError) as caught:
        load_spec_text(text)
    return caught.value.problems[0]


@pytest.mark.parametrize(
    "text",
    [
        SOLO_YAML,
        '{"goal": "g", "model": "openai:x"}',
        '{goal: g, model: "openai:x"}',
        "\ufeff" + SOLO_YAML,
        SOLO_YAML.replace("\n", "\r\n"),
        "# a comment\n" + SOLO_YAML,
        "model: &m openai:x\neconomy_model: *m\ngoal: g\n",
        "goal: >-\n  g\nmodel: openai:x",
        "!!str goal: !!str g\nmodel: openai:x",
    ],
)
def test_yaml_and_json_are_read(text):
    assert load_spec_text(text).goal == "g"


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("yes", "yes"),
        ("on", "on"),
        ("2024-01-01", "2024-01-01"),  # no date
        ("1:30", "1:30"),  # not ninety
        ("012", "012"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ('"\\U0001F600"', "😀"),
        ("'null'", "null"),
        ("<<", "<<"),
    ],
)
def test_words_stay_words(text, goal):
    assert load_spec_text(f"goal: {text}\nmodel: openai:x").goal == goal


def test_the_key_on_is_no_truth_value():
    spec = load_spec_text(
        "goal: g\nmodel: openai:x\nbranches:\n"
        "- {role: r, task_brief: t, scorers: [{kind: contains, value: v, on: notes}]}"
    )
    assert spec.branches[0].scorers[0].document() == {
        "kind": "contains",
        "value": "v",
        "on": "notes",
    }


def test_a_surrogate_pair_in_json_is_one_character():
    assert load_spec_text('{"goal": "\\ud83d\\ude00", "model": "openai:x"}').goal == "😀"


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20)
)
MERGE_BOMB = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 20)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a mapping with a goal, got null"),
        ("goal: [", "not YAML: line"),
        ("goal: g\n\tx: 1", "not YAML: line 2"),
        ("--- a\n--- b", "not YAML: line 2"),
        ("goal: *nope", "undefined alias"),
        ("goal: g\ngoal: h", "line 2: the key 'goal' occurs twice"),
        ("goal: g\nbudget: {usd: 1,\n usd: 2}", "line 3: the key 'usd' occurs twice"),
        ('{"goal": "g", "goal": "h"}', "the key 'goal' occurs twice"),
        (BOMB, "expected at most 50,000 values in all"),
        (MERGE_BOMB, "expected at most 50,000 values in all"),
        ("a: &a [*a]", "nested deeper than 64 levels"),
        ("&a {*a : 1}", "expected keys that are text"),
        ("? [a, b]\n: 1", "expected keys that are text"),
        ("? {a: b}\n: 1", "expected keys that are text"),
        ("1: x", "expected keys that are text, got one of type int"),
        ("[" * 100_000, "nest"),
        ("- " * 5_000, "nested deeper than 64 levels"),
        ("[" + "x," * 400_000 + "]", "expected at most 50,000 values in all"),
        ("goal: !!binary aGk=", "binary is not supported"),
        ("goal: !!python/object/apply:os.system [id]", "is not supported"),
        ("goal: !!int x", "is not supported"),
        ("goal: !!set {a}", "is not supported"),
        ("goal: !local x", "is not supported"),
        ("goal: a\x00", "line 1: contains a NUL character"),
        ("a: 1\ngoal: \ud800", "line 2: contains the lone surrogate U+D800"),
        ('goal: "\\0"\nmodel: openai:x', "contains a NUL character at character 1"),
        ('goal: "\\ud800"', "not YAML: line 1"),
        ('{"goal": "\\u0000", "model": "openai:x"}', "contains a NUL character"),
        ("goal: \x07", "not YAML"),
        ("goal: .nan", "expected a finite number, got nan"),
        ("goal: g\nmodel: openai:x\nbudget: {usd: -.inf}", "expected a finite number, got -inf"),
        ("x" * 1_000_001, "expected at most 1,000,000 bytes, got 1,000,001"),
        ("é" * 600_000, "expected at most 1,000,000 bytes, got 1,200,000"),
        ("goal: 1e999", "expected a finite number, got inf"),
        ("<<: {goal: g}\nmodel: openai:x", "required, but missing"),
        ("@", "not YAML"),
        ("%TAG", "not YAML"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_text_that_is_no_spec_is_refused_at_once(text, message):
    begun = time.process_time()
    with pytest.raises(SpecError) as caught:
        load_spec_text(text)
    assert time.process_time() - begun < 0.8  # building 400,000 entries first takes 1.5 s
    assert any(message in problem.message for problem in caught.value.problems), caught.value


def test_a_number_where_text_belongs_is_told_as_what_it_is():
    problem = problem_of_text("goal: 2.4\nmodel: openai:x")
    assert (problem.path, problem.message) == ("goal", "expected text, got the number 2.4")


def is_spec_or_refused(text):
    try:
        return isinstance(load_spec_text(text), RunSpec)
    except SpecError as error:
        return len(error.problems) > 0


@given(st.text(alphabet="{}[]:,-#&*!|>'\"%@`? \n\tabc01.<\\~u", max_size=60))
def test_any_text_is_a_spec_or_a_spec_error(text):
    assert is_spec_or_refused(text)
