"""Opens a model: pydantic-ai's classes for the providers, and the recorded one.

Loaded only by the loop: this module imports the model library.
"""

from collections.abc import Mapping

from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from swarmui.adapters.models.names import (
    COMPATIBLE,
    OLLAMA_URL,
    PROVIDERS,
    ModelChoice,
    find_key,
)

# The client libraries refuse an empty key; servers without keys ignore this one.
NO_KEY = "no-key"


def open_model(choice: ModelChoice, environ: Mapping[str, str], request_retries: int) -> Model:
    """The provider's model. Raises `ModelUnusable` when its key is missing.

    Each attempt opens its own: a client belongs to the event loop it was opened in.
    """
    settings = ModelSettings(max_retries=request_retries)
    key = find_key(choice, environ)
    if choice.provider == COMPATIBLE:
        return _compatible(choice, key, settings)
    variable = PROVIDERS[choice.provider].base_url_from
    base_url = environ.get(variable) if variable else None
    return _OPENERS[choice.provider](choice.name, key, base_url, settings)


def _compatible(choice: ModelChoice, key: str | None, settings: ModelSettings) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    assert choice.base_url is not None
    provider = OpenAICompatibleProvider(
        "openai-compatible", base_url=choice.base_url, api_key=key or NO_KEY
    )
    return OpenAIChatModel(choice.name, provider=provider, settings=settings)


def _openai(name: str, key: str | None, base_url: str | None, settings: ModelSettings) -> Model:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=base_url, api_key=key)
    return OpenAIResponsesModel(name, provider=provider, settings=settings)


def _anthropic(name: str, key: str | None, base_url: str | None, settings: ModelSettings) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=key, base_url=base_url)
    return AnthropicModel(name, provider=provider, settings=settings)


def _google(name: str, key: str | None, base_url: str | None, settings: ModelSettings) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=key, base_url=base_url)
    return GoogleModel(name, provider=provider, settings=settings)


def _ollama(name: str, key: str | None, base_url: str | None, settings: ModelSettings) -> Model:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    provider = OllamaProvider(base_url=base_url or OLLAMA_URL, api_key=key)
    return OllamaModel(name, provider=provider, settings=settings)


_OPENERS = {"openai": _openai, "anthropic": _anthropic, "google": _google, "ollama": _ollama}
