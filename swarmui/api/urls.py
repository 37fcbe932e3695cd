"""The API's addresses. Whatever else is asked for below them is a 404 of the same shape."""

from collections.abc import Callable, Iterable
from typing import Any

from django.urls import URLPattern, URLResolver, re_path

from swarmui.api.app import api
from swarmui.api.problems import not_found


def _open(patterns: Iterable[Any]) -> list[Any]:
    """Tell the page middleware to keep off: operations authenticate by themselves, and an
    anonymous call is a 401, not a redirect to a sign-in page."""
    opened = []
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            _open(pattern.url_patterns)
        elif isinstance(pattern, URLPattern):
            _mark(pattern.callback)
        opened.append(pattern)
    return opened


def _mark(view: Callable[..., Any]) -> None:
    view.login_required = False  # type: ignore[attr-defined]
    view.csrf_exempt = True  # type: ignore[attr-defined]  # checked by the session way itself


_patterns, app_name, namespace = api.urls
_catch_all = re_path(r"^.*$", not_found)
_patterns_and_catch_all = [*_open(_patterns), *_open([_catch_all])]
urls = (_patterns_and_catch_all, app_name, namespace)
