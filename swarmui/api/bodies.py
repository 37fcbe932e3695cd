"""The body of a request: JSON, declared as such, bounded, and read without trust."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, UnreadablePostError

from swarmui.api.problems import ApiProblem
from verifier.limits import MAX_SPEC_BYTES
from verifier.parsing import UNSTORABLE, ParseProblem, parse_untrusted

JSON = "application/json"


def read_json(request: HttpRequest) -> Any:
    """The value of the body.

    415 unless declared as JSON (a form of a foreign site cannot declare that), 413 over the cap,
    400 when it is no JSON, with the place where reading stopped, 422 when it is JSON that nothing
    here can hold: no UTF-8, NUL, half a character, a key twice, too deep.
    """
    if request.content_type != JSON:
        raise ApiProblem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Send the body as {JSON}.", headers={"Accept": JSON}
        )
    body = _bytes_of(request)
    if len(body) > MAX_SPEC_BYTES:
        raise _too_large()
    parsed = parse_untrusted(body, max_bytes=MAX_SPEC_BYTES)
    if isinstance(parsed, ParseProblem):
        raise _unreadable(body, parsed.reason)
    return parsed.value


def _unreadable(body: bytes, reason: str) -> ApiProblem:
    detail = f"The body could not be read: {reason}."
    if reason.startswith("not JSON"):
        return ApiProblem(HTTPStatus.BAD_REQUEST, detail)
    errors = [(place_of_unstorable(body), reason)]
    return ApiProblem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, errors=errors)


Place = tuple[Any, str]  # the place around it (None: the whole body), and the last step


def place_of_unstorable(body: bytes) -> str:
    """The path of the first text that no database holds; "" when that is not what is wrong."""
    try:
        waiting: list[tuple[Place | None, Any]] = [(None, json.loads(body))]
    except (ValueError, RecursionError):
        return ""
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, str) and UNSTORABLE.search(value):
            return _path(place)
        waiting += reversed(list(_inside(place, value)))
    return ""


def _inside(place: Place | None, value: Any) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, dict):
        for key in value:
            yield (place, f".{key}"), key
        for key, item in value.items():
            yield (place, f".{key}"), item
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield (place, f"[{index}]"), item


def _path(place: Place | None) -> str:
    steps: list[str] = []
    while place is not None:
        place, step = place
        steps.append(step)
    return "".join(reversed(steps)).lstrip(".")


def _bytes_of(request: HttpRequest) -> bytes:
    try:
        return request.body
    except RequestDataTooBig:
        raise _too_large() from None
    except UnreadablePostError:
        raise ApiProblem(HTTPStatus.BAD_REQUEST, "The body ended before its time.") from None


def _too_large() -> ApiProblem:
    return ApiProblem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A body has at most {MAX_SPEC_BYTES} bytes."
    )
