"""A tool is its function's signature, and nothing but."""

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, JsonValue

from verifier.boundary.tool_adapter import InvalidArguments, Tool, as_text, tool

calls: list[tuple[Any, ...]] = []


def search(
    path: Annotated[str, Field(description="Where")],
    limit: Annotated[int, Field(ge=1, le=10)] = 5,
    names: list[str] | None = None,
    exact: bool = False,
) -> JsonValue:
    """Find things.

    In places.
    """
    calls.append((path, limit, names, exact))
    return {"path": path}


@pytest.fixture
def find() -> Tool:
    calls.clear()
    return tool("library__search")(search)


def test_a_tool_tells_what_the_function_says(find: Tool) -> None:
    assert find.name == "library__search"
    assert find.description == "Find things.\n\nIn places."
    assert find.schema["required"] == ["path"]
    assert find.schema["additionalProperties"] is False
    properties: Any = find.schema["properties"]
    assert properties["path"] == {"description": "Where", "title": "Path", "type": "string"}
    assert properties["limit"]["maximum"] == 10


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "x", "limit": 2, "names": ["a"], "exact": True},
        '{"path": "x", "limit": 2, "names": ["a"], "exact": true}',
        b'{"path": "x", "limit": 2, "names": ["a"], "exact": true}',
    ],
)
def test_arguments_come_as_an_object_or_as_its_text(find: Tool, arguments: object) -> None:
    assert find.run(arguments) == {"path": "x"}
    assert calls == [("x", 2, ["a"], True)]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, "path"),
        (None, "path"),
        ("", "path"),  # some models send nothing at all
        ({"path": "x", "paht": "y"}, "paht"),
        ({"path": 1}, "path"),
        ({"path": None}, "path"),
        ({"path": "x", "limit": True}, "limit"),  # true is not 1
        ({"path": "x", "limit": 2.0}, "limit"),
        ({"path": "x", "limit": "2"}, "limit"),
        ({"path": "x", "limit": 11}, "limit"),
        ({"path": "x", "exact": 1}, "exact"),
        ({"path": "x", "exact": "yes"}, "exact"),
        ({"path": "x", "names": "ab"}, "names"),  # a text is no list of letters
        ({"path": "x", "names": ("a",)}, "names"),
        ({"path": "x", "names": ["a", 1]}, "names.1"),
        ([], "arguments"),
        (["x"], "arguments"),
        (7, "arguments"),
        ("[]", "arguments"),
        ('"x"', "arguments"),
        ("{", "not JSON"),
        ('{"path": "x", "path": "y"}', "not JSON"),  # which one was meant?
        ('{"path": "x", "limit": NaN}', "not JSON"),
        ({1: "x"}, ""),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_happens(
    find: Tool, arguments: object, names: str
) -> None:
    with pytest.raises(InvalidArguments) as refused:
        find.run(arguments)
    assert names in str(refused.value)
    assert calls == []


def test_a_hostile_argument_name_is_shown_inert(find: Tool) -> None:
    with pytest.raises(InvalidArguments) as refused:
        find.run({"path": "x", "\x1b[31m\u202e" + "n" * 5_000: 1})
    assert "\x1b" not in str(refused.value)
    assert "\u202e" not in str(refused.value)
    assert len(str(refused.value)) <= 1_000


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_no_arguments_make_it_raise_anything_else(arguments: object) -> None:
    find = tool("library__search")(search)
    try:
        find.validate(arguments)
    except InvalidArguments:
        return


def test_a_bound_method_is_a_tool() -> None:
    class Counter:
        def __init__(self) -> None:
            self.total = 0

        def add(self, n: int) -> JsonValue:
            """Add."""
            self.total += n
            return self.total

    counter = Counter()
    assert tool("add")(counter.add).run({"n": 3}) == 3
    assert counter.total == 3


def test_a_function_without_types_is_no_tool() -> None:
    def untyped(path) -> JsonValue:  # type: ignore[no-untyped-def]
        return str(path)

    def positional(path: str, /) -> JsonValue:
        return path

    def anything(**rest: str) -> JsonValue:
        return len(rest)

    for function in (untyped, positional, anything):
        with pytest.raises(TypeError):
            tool("x")(function)


def test_an_answer_is_told_as_text() -> None:
    assert as_text("é") == "é"
    assert as_text({"é": [1, None]}) == '{"é": [1, null]}'
