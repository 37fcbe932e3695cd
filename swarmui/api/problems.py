"""The one shape of every error the API gives: RFC 9457 problem+json.

`type`, `title`, `status`, `detail` and `errors` are always there; `errors` is empty unless single
fields are to blame. 401 says "who are you", 403 says "not you", 404 also covers what one may not
see. An unexpected error says nothing about the inside: it goes to the log.
"""

import logging
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

import orjson
from django.core.exceptions import ObjectDoesNotExist
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, Throttled, ValidationError

from swarmui.services.outages import renew_connections
from verifier.framing import one_line

CONTENT_TYPE = "application/problem+json"
BEARER_CHALLENGE = 'Bearer realm="swarmui"'
MAX_ERRORS = 50
MAX_PATH_CHARS = 200
MAX_MESSAGE_CHARS = 1_000
RETRY_AFTER_S = 2

logger = logging.getLogger("swarmui.api")


class FieldError(Schema):
    """One field to blame: `path` as in `branches[0].task_brief`, `message` what was expected."""

    path: str
    message: str


class Problem(Schema):
    """What every answer of 400 and above looks like."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError]


class ApiProblem(Exception):
    """The caller gets this status, this sentence and these fields."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Iterable[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})


def problem_body(status: int, detail: str, errors: Iterable[tuple[str, str]] = ()) -> bytes:
    """The bytes of one problem. Texts are bounded and escaped: they may quote the caller."""
    phrase = HTTPStatus(status).phrase
    fields = [
        {
            "path": one_line(path, MAX_PATH_CHARS),
            "message": one_line(message, MAX_MESSAGE_CHARS),
        }
        for path, message in list(errors)[:MAX_ERRORS]
    ]
    return orjson.dumps(
        {
            "type": f"urn:swarmui:problem:{phrase.lower().replace(' ', '-')}",
            "title": phrase,
            "status": status,
            "detail": one_line(detail, MAX_MESSAGE_CHARS),
            "errors": fields,
        }
    )


def problem_response(
    status: int,
    detail: str,
    errors: Iterable[tuple[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    response = HttpResponse(
        problem_body(status, detail, errors), status=status, content_type=CONTENT_TYPE
    )
    response["Cache-Control"] = "no-store"
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = BEARER_CHALLENGE
    for name, value in (headers or {}).items():
        response[name] = value
    return response


def not_found(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    """Every path below the API that no operation answers."""
    return problem_response(HTTPStatus.NOT_FOUND, "There is nothing at this address.")


def register_handlers(api: NinjaAPI) -> None:
    """Give every way an operation can fail the one shape."""
    api.add_exception_handler(ApiProblem, _on_api_problem)
    api.add_exception_handler(AuthenticationError, _on_unauthenticated)
    api.add_exception_handler(ValidationError, _on_invalid_parameters)
    api.add_exception_handler(ObjectDoesNotExist, _on_unknown_id)
    api.add_exception_handler(HttpError, _on_http_error)
    api.add_exception_handler(Throttled, _on_http_error)
    api.add_exception_handler(OperationalError, _on_database_away)
    api.add_exception_handler(InterfaceError, _on_database_away)
    api.add_exception_handler(Exception, _on_unexpected)


def _on_api_problem(request: HttpRequest, exc: Any) -> HttpResponse:
    return problem_response(exc.status, exc.detail, exc.errors, exc.headers)


def _on_unauthenticated(request: HttpRequest, exc: Any) -> HttpResponse:
    return problem_response(
        HTTPStatus.UNAUTHORIZED,
        "Sign in, or send a valid token: Authorization: Bearer sd_…",
    )


def _on_unknown_id(request: HttpRequest, exc: Any) -> HttpResponse:
    return problem_response(HTTPStatus.NOT_FOUND, "There is nothing with this id.")


def _on_invalid_parameters(request: HttpRequest, exc: Any) -> HttpResponse:
    errors = [(_field_path(error["loc"]), str(error["msg"])) for error in exc.errors]
    return problem_response(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        f"{len(errors)} parameter(s) were not understood.",
        errors,
    )


def _on_http_error(request: HttpRequest, exc: Any) -> HttpResponse:
    return problem_response(exc.status_code, str(exc))


def _on_database_away(request: HttpRequest, exc: Any) -> HttpResponse:
    logger.warning("no answer to %s %s: the database: %s", request.method, request.path, exc)
    renew_connections(exc)
    return problem_response(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The database does not answer now. Nothing was changed that was not answered; ask again.",
        headers={"Retry-After": str(RETRY_AFTER_S)},
    )


def _on_unexpected(request: HttpRequest, exc: Any) -> HttpResponse:
    logger.error("unexpected error in %s %s", request.method, request.path, exc_info=exc)
    return problem_response(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "Something broke on our side. The log has the details.",
    )


def _field_path(loc: Iterable[Any]) -> str:
    """`("query", "limit")` -> `limit`; list positions in brackets."""
    path = ""
    for part in list(loc)[1:]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path.lstrip(".")
