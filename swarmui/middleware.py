"""What every request passes, pages and API alike, and the cap on bodies in front of both."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote

from csp.middleware import CSPMiddleware, PolicyParts
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django_htmx.middleware import HtmxDetails
from whitenoise.middleware import WhiteNoiseMiddleware

from swarmui.api.problems import CONTENT_TYPE, problem_body, problem_response
from swarmui.services import sign_in

API_PREFIX = "/api/"
PERMISSIONS_POLICY = (
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "
    "microphone=(), midi=(), payment=(), usb=()"
)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class SignInRequired(LoginRequiredMiddleware):
    """Every view needs a signed-in person, unless it is marked `login_not_required`.

    Sessions past their time end here. An open view never touches the session, so that health
    answers without a database. An htmx request is sent to the sign-in page as a whole page.
    """

    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        if not getattr(view_func, "login_required", True):
            return None
        if request.user.is_authenticated:
            sign_in.keep_alive(request)
        response = super().process_view(request, view_func, view_args, view_kwargs)
        if response is not None and request.headers.get("HX-Request"):
            page = quote(HtmxDetails(request).current_url_abs_path or reverse("runs"))
            target = f"{reverse('sign_in')}?next={page}"
            return HttpResponse(status=401, headers={"HX-Redirect": target})
        return response


class ContentSecurityPolicy(CSPMiddleware):
    """The policy of the settings, with this host's own socket origin added to `connect-src`.

    Some browsers do not count `wss://` of the same host as `'self'`.
    """

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        if not report_only and response.status_code != 400:  # 400: perhaps a host not allowed
            scheme = "wss" if request.is_secure() else "ws"
            sockets = f"{scheme}://{request.get_host()}"
            parts.update = {**(parts.update or {}), "connect-src": sockets}
        response.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        return parts


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]  # ships no types
    """Static files, each answered whole: they are small, and an ASGI server cannot stream from a
    synchronous iterator without reading all of it first."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        answer = WhiteNoiseMiddleware.serve(static_file, request)
        whole = HttpResponse(b"".join(answer), status=answer.status_code, headers=answer.headers)
        answer.close()
        return whole


class ApiErrorsAreProblems:
    """Below the API every error is problem+json, also the ones Django itself answers with."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code < 400 or not request.path_info.startswith(API_PREFIX):
            return response
        if response.headers.get("Content-Type", "") == CONTENT_TYPE:
            return response
        detail = _DETAILS.get(response.status_code, "The request was refused.")
        if not isinstance(response, HttpResponse):
            return problem_response(response.status_code, detail)
        body = problem_body(response.status_code, detail)
        # The answer keeps its own headers: Allow, Retry-After, and those that guard a browser.
        response.content = body
        response["Content-Type"] = CONTENT_TYPE
        response["Content-Length"] = str(len(body))
        return response


_DETAILS = {
    400: "The request could not be understood.",
    404: "There is nothing at this address.",
    405: "This address does not take this method; see the Allow header.",
    500: "Something broke on our side. The log has the details.",
}


class _BodyTooLarge(Exception):
    """More than the cap came in."""


def limit_body(app: AsgiApp, max_bytes: int) -> AsgiApp:
    """Refuse a larger body while it arrives: Django would first store all of it on disk."""

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > max_bytes:
            await _refuse_body(send, max_bytes)
            return
        received = 0

        async def counting() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > max_bytes:
                raise _BodyTooLarge
            return message

        try:
            await app(scope, counting, send)
        except _BodyTooLarge:
            await _refuse_body(send, max_bytes)

    return limited


async def _refuse_body(send: Send, max_bytes: int) -> None:
    body = problem_body(413, f"A request body has at most {max_bytes} bytes.")
    headers = [
        (b"content-type", CONTENT_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
