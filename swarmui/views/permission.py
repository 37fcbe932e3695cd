"""Who may see a page: the same table as for API and sockets."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from swarmui.services.roles import Action, Actor, actor_of_user


def actor_of(request: HttpRequest) -> Actor:
    """The signed-in person. The middleware lets nobody else through to a page."""
    actor = actor_of_user(request.user)
    if actor is None:
        raise PermissionDenied("sign in first")
    return actor


def require(request: HttpRequest, action: Action) -> Actor:
    """The person, if their role allows the action; else the page for 403."""
    actor = actor_of(request)
    if not actor.may(action):
        raise PermissionDenied(f"your role, {actor.role}, may not {action}")
    return actor
