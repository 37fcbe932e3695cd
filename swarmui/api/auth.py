"""Who is asking: a bearer token, or the session of a signed-in person.

A request that carries an `Authorization` header is judged by it alone: a wrong token is never
made good by a cookie. Only the cookie way needs the CSRF token, for only a cookie is sent by a
browser that was tricked.
"""

from http import HTTPStatus
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest
from ninja.errors import AuthenticationError
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from swarmui.api.problems import ApiProblem
from swarmui.services import roles, sign_in, tokens
from swarmui.services.roles import Action, Actor


class BearerToken(HttpBearer):
    """`Authorization: Bearer sd_…`."""

    def __call__(self, request: HttpRequest) -> Actor | None:
        _refuse_token_in_url(request)
        header = request.headers.get("Authorization")
        if header is None:
            return None
        scheme, _, key = header.partition(" ")
        actor = self.authenticate(request, key.strip()) if scheme.lower() == "bearer" else None
        if actor is None:
            raise AuthenticationError
        return actor

    def authenticate(self, request: HttpRequest, token: str) -> Actor | None:
        found = tokens.find_token(token)
        return roles.actor_of_token(found) if found else None


class SessionCookie(APIKeyCookie):
    """The session of a signed-in person; changes need the CSRF token in `X-CSRFToken`."""

    param_name = settings.SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> Actor | None:
        # The person comes first, so that an ended session is a 401 and never a CSRF failure.
        actor = self.authenticate(request, request.COOKIES.get(self.param_name))
        if actor is not None and self.csrf and check_csrf(request):
            raise ApiProblem(
                HTTPStatus.FORBIDDEN,
                "A change asked for with a session cookie needs the CSRF token in X-CSRFToken and "
                "an Origin of this site.",
            )
        return actor

    def authenticate(self, request: HttpRequest, key: str | None) -> Actor | None:
        if not key:
            return None
        if request.user.is_authenticated:
            sign_in.keep_alive(request)
        return roles.actor_of_user(request.user)


AUTH: list[Any] = [BearerToken(), SessionCookie(csrf=True)]


def actor_of(request: HttpRequest) -> Actor:
    """The authenticated actor of an API request."""
    return cast(Actor, request.auth)  # type: ignore[attr-defined]


def require(request: HttpRequest, action: Action) -> Actor:
    """The actor, if its role may do this; else 403."""
    actor = actor_of(request)
    if not actor.may(action):
        raise ApiProblem(HTTPStatus.FORBIDDEN, f"The role {actor.role} may not {action}.")
    return actor


def _refuse_token_in_url(request: HttpRequest) -> None:
    # URLs end in logs, histories and Referer headers: a token that works there would leak.
    if tokens.TOKEN_PATTERN.search(request.get_full_path()):
        raise ApiProblem(
            HTTPStatus.BAD_REQUEST,
            "A token was sent in the URL, where logs keep it. Revoke that token, and send another "
            "in the header: Authorization: Bearer sd_…",
        )
