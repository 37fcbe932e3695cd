"""Tools: typed functions a worker may call, with a schema that is the signature itself.

Arguments are refused before anything happens when one is missing, unknown or of another type
(true is not a number, "3" is not 3). Source: seed 002, pattern "Tool Adapter".
"""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, create_model

from verifier.framing import one_line
from verifier.parsing import ParseProblem, parse_untrusted

MAX_ARGUMENT_BYTES = 4_000_000  # a file to write, with every character escaped
_NAMED_PROBLEMS = 5  # enough to mend a call with
_STRICT = ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=False)


class ToolFailure(Exception):
    """The tool was used rightly and could not do it; the message is for the worker."""


class ToolDenied(Exception):
    """The tool would not do it, whoever asks; the message is for the worker."""


class InvalidArguments(Exception):
    """The call does not fit the tool's signature; nothing has happened."""


@dataclass(frozen=True)
class Tool:
    """A tool as a model is told of it, and as the executor runs it."""

    name: str
    description: str
    schema: dict[str, JsonValue]
    _arguments: type[BaseModel] = field(repr=False)
    _function: Callable[..., JsonValue] = field(repr=False)

    def validate(self, arguments: object) -> dict[str, Any]:
        """Arguments of the function, from an object or its JSON text. Raises
        `InvalidArguments`."""
        try:
            parsed = self._arguments.model_validate(_as_mapping(arguments))
        except ValidationError as error:
            raise InvalidArguments(_problems_of(error)) from None
        return {name: getattr(parsed, name) for name in type(parsed).model_fields}

    def run(self, arguments: object) -> JsonValue:
        """Validate, then act. Raises `InvalidArguments`, `ToolFailure`, `ToolDenied`."""
        return self._function(**self.validate(arguments))


def tool(name: str) -> Callable[[Callable[..., JsonValue]], Tool]:
    """Turn a typed function (or bound method) into a `Tool`; its docstring is the description.

    Raises `TypeError` for a function whose parameters are not all annotated and named.
    """

    def adapt(function: Callable[..., JsonValue]) -> Tool:
        arguments = _model_of(name, function)
        return Tool(
            name=name,
            description=inspect.cleandoc(function.__doc__ or ""),
            schema=_schema_of(arguments),
            _arguments=arguments,
            _function=function,
        )

    return adapt


def _model_of(name: str, function: Callable[..., JsonValue]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{name}: parameter {parameter} cannot be passed by name")
        if parameter.name not in hints:
            raise TypeError(f"{name}: parameter {parameter.name} has no type")
        required = parameter.default is inspect.Parameter.empty
        fields[parameter.name] = (hints[parameter.name], ... if required else parameter.default)
    return create_model(name, __config__=_STRICT, **fields)


def _schema_of(arguments: type[BaseModel]) -> dict[str, JsonValue]:
    schema: dict[str, JsonValue] = arguments.model_json_schema()
    schema.pop("title", None)
    return schema


def _as_mapping(arguments: object) -> object:
    if arguments is None:
        return {}
    if not isinstance(arguments, str | bytes):
        return dict(arguments) if isinstance(arguments, Mapping) else arguments
    if not arguments.strip():
        return {}  # some models send nothing for "no arguments"
    parsed = parse_untrusted(arguments, max_bytes=MAX_ARGUMENT_BYTES)
    if isinstance(parsed, ParseProblem):
        raise InvalidArguments(f"the arguments are not JSON: {parsed.reason}")
    return parsed.value


def _problems_of(error: ValidationError) -> str:
    shown = [
        f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_context=False)[:_NAMED_PROBLEMS]
    ]
    rest = error.error_count() - len(shown)
    if rest > 0:
        shown.append(f"and {rest} more")
    return one_line("; ".join(shown), 1_000)


def as_text(value: JsonValue) -> str:
    """A tool's answer as the worker reads it: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
