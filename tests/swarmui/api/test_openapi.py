"""The document that describes the API is whole: operations, answers, parameters, references."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from verifier.spec import run_spec_schema

from .callers import operations

METHODS = {"get", "post", "put", "patch", "delete"}
OPEN = {"get_run_spec_schema"}


@pytest.fixture(scope="module")
def document() -> Any:
    return Client().get("/api/v1/openapi.json").json()


def _operations(document: Any) -> Iterator[tuple[str, str, Any]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_it_is_openapi_3_1_with_a_title_a_version_and_words(document: Any) -> None:
    assert document["openapi"].startswith("3.1")
    assert all(document["info"][name] for name in ("title", "version", "description"))


def test_every_operation_is_in_it(document: Any) -> None:
    served = len(list(operations()))
    described = list(_operations(document))
    assert len(described) == served
    assert all(path.startswith("/api/v1/") for path, _, _ in described)
    assert {method for _, method, _ in described} <= METHODS
    names = [operation["operationId"] for _, _, operation in described]
    assert len(set(names)) == len(names)


def test_every_operation_says_what_it_does_and_what_it_answers(document: Any) -> None:
    for path, method, operation in _operations(document):
        where = f"{method} {path}"
        assert operation["summary"], where
        assert len(operation["description"]) > 20, where
        assert operation["tags"], where
        good = [status for status in operation["responses"] if status < "400"]
        assert good, where
        for status in good:
            assert operation["responses"][status]["content"]["application/json"]["schema"], where


def test_every_error_is_documented_as_a_problem(document: Any) -> None:
    for path, method, operation in _operations(document):
        bad = {status: a for status, a in operation["responses"].items() if status >= "400"}
        for answer in bad.values():
            assert list(answer["content"]) == ["application/problem+json"], (method, path)
        if operation["operationId"] not in OPEN:
            assert {"401", "403", "422", "500"} <= set(bad), (method, path)
            assert operation["security"], (method, path)


def test_both_ways_to_authenticate_are_described(document: Any) -> None:
    schemes = document["components"]["securitySchemes"]
    assert schemes["BearerToken"] == {"type": "http", "scheme": "bearer"}
    assert schemes["SessionCookie"]["in"] == "cookie"


def test_path_parameters_are_the_ones_in_the_path(document: Any) -> None:
    for path, _, operation in _operations(document):
        named = {p["name"] for p in operation["parameters"] if p["in"] == "path"}
        assert named == {part[1:-1] for part in path.split("/") if part.startswith("{")}
        assert all(p["required"] for p in operation["parameters"] if p["in"] == "path")


def test_every_reference_leads_somewhere(document: Any) -> None:
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    local = {reference for reference in _references(document) if reference.startswith("#")}
    assert local <= known
    assert known <= local, "a schema nobody refers to"


def test_the_body_of_a_start_is_the_run_spec(client: Client, document: Any) -> None:
    start = document["paths"]["/api/v1/runs"]["post"]
    reference = start["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    served = client.get(f"/api/v1/{reference}")
    assert served.json() == run_spec_schema()
    assert "Idempotency-Key" in {p["name"] for p in start["parameters"]}


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref":
                yield inner
            else:
                yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)
