"""Model names, keys and families: decided without importing or asking anything."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from swarmui.adapters.models.names import (
    PROVIDERS,
    RECORDED,
    ModelUnusable,
    choose_model,
    family_of,
    find_key,
    host_key_variable,
    key_variables,
    model_problem,
)
from tests.fakes_models import recording
from verifier import spec


@dataclass(frozen=True)
class Named:
    name: str
    base_url: str | None = None


@pytest.mark.parametrize(
    ("model", "provider", "name", "family"),
    [
        ("openai:gpt-5", "openai", "gpt-5", "openai"),
        ("anthropic:claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5", "anthropic"),
        ("google:gemini-3-pro", "google", "gemini-3-pro", "google"),
        ("ollama:qwen3:8b", "ollama", "qwen3:8b", "alibaba"),
        ("ollama:someone/else", "ollama", "someone/else", None),  # unknown is not a guess
        ("recorded:a/b.yaml", "recorded", "a/b.yaml", None),  # its file declares it
        (Named("openai:gpt-5"), "openai", "gpt-5", "openai"),
        (Named("meta/llama-4", "https://x.example/v1"), "compatible", "meta/llama-4", "meta"),
    ],
)
def test_a_model_name_is_taken_apart(
    model: str | Named, provider: str, name: str, family: str | None
) -> None:
    choice = choose_model(model)
    assert (choice.provider, choice.name, choice.family) == (provider, name, family)


@pytest.mark.parametrize(
    "model", ["", "gpt-5", "openai:", "openai: ", "bedrock:x", ":x", "x" * 999]
)
def test_an_unknown_model_is_refused_with_the_known_ones(model: str) -> None:
    with pytest.raises(ModelUnusable, match="expected one of openai:…, anthropic:…"):
        choose_model(model)


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "ftp://x.example",
        "file:///etc/passwd",
        "https://",
        "https://user:secret@x.example/v1",
        "https://x.example/v1?key=secret",
        "https://x.example/#x",
        "https://x_y.example/v1",  # two hosts could share a key's variable
        "https://a-.example/v1",
        "https://x.example:99999/v1",
        "https://[::1/v1",
        "https://x\n.example/v1 ",
    ],
)
def test_an_address_that_is_not_plain_is_refused(base_url: str) -> None:
    with pytest.raises(ModelUnusable, match="base_url"):
        choose_model(Named("m", base_url))


def test_no_two_hosts_share_a_key() -> None:
    addresses = [
        "https://api.example.com/v1",
        "https://api-example.com/v1",
        "https://api.example.com:8443/v1",
        "https://api.example.com:84/v1",
        "http://1.2.3.4/v1",
        "http://1.2.3:4/v1",
        "http://[::1]:80/v1",
        "http://[::1]/v1",
    ]
    variables = [host_key_variable(address) for address in addresses]
    assert variables[0] == "SWARMUI_KEY_API_EXAMPLE_COM"
    assert len(set(variables)) == len(addresses)


def test_the_key_of_one_provider_is_never_sent_to_a_named_address() -> None:
    environ = {"OPENAI_API_KEY": "sk-real", "SWARMUI_KEY_OTHER_EXAMPLE": "k2"}
    choice = choose_model(Named("gpt-5", "https://evil.example/v1"))
    assert find_key(choice, environ) is None
    other = choose_model(Named("gpt-5", "https://other.example/v1"))
    assert find_key(other, environ) == "k2"


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai:gpt-5", "OPENAI_API_KEY"),
        ("anthropic:claude", "ANTHROPIC_API_KEY"),
        ("google:gemini", "GOOGLE_API_KEY or GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_named(model: str, variable: str, tmp_path: Path) -> None:
    for environ in ({}, {variable.split()[0]: "  "}):
        problem = model_problem(model, tmp_path, environ)
        assert problem == f"{model}: no key. Set {variable} in the server's environment."


def test_no_key_is_asked_for_where_none_is_needed(tmp_path: Path) -> None:
    name = recording(tmp_path, [{"final": "x"}])
    assert model_problem("ollama:llama3", tmp_path, {}) is None
    assert model_problem(name, tmp_path, {}) is None
    assert key_variables(choose_model(name)) == ()


def test_a_missing_recording_is_found_before_the_start(tmp_path: Path) -> None:
    problem = model_problem("recorded:none.yaml", tmp_path, {})
    assert problem == "none.yaml: there is no such recording"


def test_the_maker_is_known_by_the_model_and_not_by_the_vendor() -> None:
    assert family_of("openrouter/qwen3-coder") == "alibaba"
    assert family_of("gpt-oss:20b") == "openai"
    assert family_of("my-own-model") is None


def test_the_spec_and_the_gateway_know_the_same_providers() -> None:
    assert set(spec.PROVIDERS) == {*PROVIDERS, RECORDED}
