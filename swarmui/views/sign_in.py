"""Getting in and out: password page, one-time link, sign-out.

A link's page shows a button: opening it, as mail scanners and link previews do, uses nothing up.
"""

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from swarmui.services import sign_in as service
from swarmui.services.sign_in import LinkState
from swarmui.views.sign_in_limit import Guess, forgive, seconds_to_wait

FORM = "sign_in/form.html"
LINK = "sign_in/link.html"


class SignInForm(AuthenticationForm):
    """Name and password; what fails says nothing of which names exist."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": "No account has this name and this password. Capitals count in both.",
    }


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """The password page. 429 with `Retry-After` after five failures in a minute."""
    target = _next(request)
    if request.user.is_authenticated:
        return redirect(target)
    if request.method != "POST":
        return render(request, FORM, {"form": SignInForm(request), "next": target})
    guess = Guess(
        account=request.POST.get("username", ""), address=request.META.get("REMOTE_ADDR", "")
    )
    if wait := seconds_to_wait(guess):
        return _too_many(request, target, wait)
    form = SignInForm(request, data=request.POST)
    if not form.is_valid():
        return render(request, FORM, {"form": form, "next": target}, status=422)
    forgive(guess)
    service.start_session(request, form.get_user())
    return redirect(target)


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """GET says what the link is worth and shows a button; POST uses it up and signs in."""
    if request.method != "POST":
        return _link_page(request, service.read_link(token))
    use = service.use_link(token)
    if use.user is None:
        return _link_page(request, use.state)
    service.start_session(request, use.user)
    return redirect(settings.LOGIN_REDIRECT_URL)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session, here and in the database."""
    logout(request)
    return redirect(settings.LOGOUT_REDIRECT_URL)


def _too_many(request: HttpRequest, target: str, wait: int) -> HttpResponse:
    context = {"form": SignInForm(request), "next": target, "wait_seconds": wait}
    response = render(request, FORM, context, status=429)
    response["Retry-After"] = str(wait)
    return response


def _link_page(request: HttpRequest, state: LinkState) -> HttpResponse:
    status = 200 if state is LinkState.VALID else 410
    return render(request, LINK, {"state": state.value}, status=status)


def _next(request: HttpRequest) -> str:
    """Where to go afterwards: a page of this host, else the first page."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    if url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        return wanted
    return resolve_url(settings.LOGIN_REDIRECT_URL)
