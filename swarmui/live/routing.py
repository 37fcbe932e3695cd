"""Where sockets go. ``websocket_application`` is what ``swarmui.asgi`` mounts."""

from __future__ import annotations

from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from django.urls import path, re_path

from swarmui.live.consumers import RunConsumer
from swarmui.live.origins import SameOriginOnly, refuse

# Typed loosely: Django's stubs know views only, and these are ASGI applications.
_follow_run: Any = RunConsumer()
_refuse: Any = refuse

websocket_urlpatterns = [
    path("ws/runs/<uuid:run_id>/", _follow_run),
    re_path(r"", _refuse),
]


def websocket_application() -> SameOriginOnly:
    """Same origin first, then the session's user, then the run."""
    return SameOriginOnly(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))
