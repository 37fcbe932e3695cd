"""Model names: which provider, which key, which family. Light: nothing is imported to look.

Keys come from the environment only. A key meant for one host is never sent to another: an
OpenAI-compatible `base_url`, which a run spec may name freely, has a variable of its own, made
from its host.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

RECORDED = "recorded"
COMPATIBLE = "compatible"
OLLAMA_URL = "http://127.0.0.1:11434/v1"
MAX_NAME_CHARS = 300
HOST_KEY_PREFIX = "SWARMUI_KEY_"

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{0,30}}|\[[0-9a-f:.]{{2,45}}\]")


class NamedModel(Protocol):
    """A model given as name and address, as a run spec has it."""

    @property
    def name(self) -> str: ...

    @property
    def base_url(self) -> str | None: ...


class ModelUnusable(Exception):
    """The named model cannot be used; the message says what is missing or wrong, for people."""

    def __init__(self, message: str, model: str | None = None) -> None:
        super().__init__(message)
        self.model = model


@dataclass(frozen=True)
class Provider:
    """One row of the table of providers. `keys`: environment variables, the first set one counts;
    none means that it needs no key."""

    keys: tuple[str, ...]
    family: str | None = None
    base_url_from: str | None = None


PROVIDERS: dict[str, Provider] = {
    "openai": Provider(("OPENAI_API_KEY",), "openai", "OPENAI_BASE_URL"),
    "anthropic": Provider(("ANTHROPIC_API_KEY",), "anthropic", "ANTHROPIC_BASE_URL"),
    "google": Provider(("GOOGLE_API_KEY", "GEMINI_API_KEY"), "google", "GOOGLE_GEMINI_BASE_URL"),
    "ollama": Provider((), None, "OLLAMA_BASE_URL"),
}

# By how a model's own name begins (after a vendor's "vendor/"): who made it, so that two names of
# one maker are not taken for two families. A name that is not here has no known family.
FAMILIES: dict[str, str] = {
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude": "anthropic",
    "gemini": "google",
    "gemma": "google",
    "llama": "meta",
    "qwen": "alibaba",
    "qwq": "alibaba",
    "mistral": "mistral",
    "mixtral": "mistral",
    "magistral": "mistral",
    "devstral": "mistral",
    "deepseek": "deepseek",
    "command": "cohere",
    "phi": "microsoft",
    "glm": "zai",
    "kimi": "moonshot",
    "grok": "xai",
    "granite": "ibm",
}


@dataclass(frozen=True)
class ModelChoice:
    """A model name taken apart. `label` is what is shown and stored; `family` None is unknown."""

    provider: str
    name: str
    base_url: str | None
    label: str
    family: str | None


def choose_model(model: str | NamedModel) -> ModelChoice:
    """Takes a model's name apart; raises `ModelUnusable` for one that names no provider."""
    if not isinstance(model, str):
        if model.base_url is not None:
            return _compatible(model.name, model.base_url)
        model = model.name
    provider, colon, name = model.partition(":")
    if len(model) > MAX_NAME_CHARS or not colon or not name.strip():
        raise ModelUnusable(_unknown(model), model[:MAX_NAME_CHARS])
    if provider == RECORDED:
        return ModelChoice(RECORDED, name, None, model, None)
    if provider not in PROVIDERS:
        raise ModelUnusable(_unknown(model), model)
    return ModelChoice(provider, name, None, model, PROVIDERS[provider].family or family_of(name))


def family_of(name: str) -> str | None:
    """Who made the model called `name`; None when the name does not tell."""
    own_name = name.rsplit("/", 1)[-1].lower()
    return next((maker for start, maker in FAMILIES.items() if own_name.startswith(start)), None)


def key_variables(choice: ModelChoice) -> tuple[str, ...]:
    """The environment variables a key for this model may come from."""
    if choice.provider == COMPATIBLE and choice.base_url is not None:
        return (host_key_variable(choice.base_url),)
    if choice.provider == RECORDED:
        return ()
    return PROVIDERS[choice.provider].keys


def host_key_variable(base_url: str) -> str:
    """The variable that holds the key for one host: `https://api.a-b.example:8443/v1` →
    `SWARMUI_KEY_API_A__B_EXAMPLE___8443`. No two hosts share one: a dot is one underscore, a
    hyphen two, a port follows three."""
    host = _split(base_url)
    spelled = host.strip("[]").replace("-", "__").replace(".", "_").replace(":", "_")
    port = urlsplit(base_url).port
    return f"{HOST_KEY_PREFIX}{spelled.upper()}" + (f"___{port}" if port else "")


def find_key(choice: ModelChoice, environ: Mapping[str, str]) -> str | None:
    """The key for this model; None where none is needed. Raises `ModelUnusable` naming the
    variable when one is needed and not set."""
    variables = key_variables(choice)
    for variable in variables:
        if environ.get(variable, "").strip():
            return environ[variable].strip()
    if choice.provider == COMPATIBLE or not variables:
        return None
    raise ModelUnusable(
        f"{choice.label}: no key. Set {' or '.join(variables)} in the server's environment.",
        choice.label,
    )


def model_problem(
    model: str | NamedModel, recorded_root: Path, environ: Mapping[str, str] = os.environ
) -> str | None:
    """Why this model could not be used now, for a check before anything is started; None when
    nothing is known to be wrong. Asks no network."""
    from swarmui.adapters.models.recorded import RecordedError
    from swarmui.adapters.models.recording_file import load_recording

    try:
        choice = choose_model(model)
        find_key(choice, environ)
        if choice.provider == RECORDED:
            load_recording(choice.name, recorded_root)
    except (ModelUnusable, RecordedError) as problem:
        return str(problem)
    return None


def _compatible(name: str, base_url: str) -> ModelChoice:
    if not name.strip() or len(name) > MAX_NAME_CHARS:
        raise ModelUnusable(f"a model name of 1 to {MAX_NAME_CHARS} characters was expected")
    host = _split(base_url)
    return ModelChoice(COMPATIBLE, name, base_url, f"{name} at {host}", family_of(name))


def _split(base_url: str) -> str:
    """The host of an http(s) address that carries nothing secret or odd."""
    if not base_url.isascii() or not base_url.isprintable() or " " in base_url:
        raise ModelUnusable("base_url: expected plain ASCII without blanks")
    try:
        parts = urlsplit(base_url)
        host, _ = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise ModelUnusable("base_url: expected an http(s) address, seen none") from None
    bracketed = f"[{host}]" if ":" in host else host
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(bracketed):
        raise ModelUnusable("base_url: expected http(s)://host[:port]/path with a plain host name")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ModelUnusable("base_url: user names, keys, queries and fragments do not belong there")
    return bracketed


def _unknown(model: str) -> str:
    shown = model[:80].replace("\n", " ")
    known = ", ".join(f"{name}:…" for name in (*PROVIDERS, RECORDED))
    return f"unknown model {shown!r}: expected one of {known}, or a name with a base_url"
