"""Callers of every kind: with a session, with a token, with neither."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import orjson
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from swarmui.api.app import api
from swarmui.models import ApiToken, Membership, Role
from swarmui.services import tokens

API = "/api/v1"

SPEC: dict[str, Any] = {
    "goal": "Count the files",
    "branches": [
        {
            "role": "counting",
            "task_brief": "Count them.",
            "worker": {"kind": "command", "argv": ["true"]},
        },
        {
            "role": "checking",
            "task_brief": "Check the count.",
            "worker": {"kind": "command", "argv": ["true"]},
        },
    ],
}


@dataclass
class Caller:
    """One way of asking the API: with a token, with a session, or with neither."""

    client: Client = field(default_factory=Client)
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(API + path, headers={**self.headers, **headers})

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        """`body` as it is when bytes, else as JSON; header names with `_` for `-`."""
        sent = body if isinstance(body, bytes) else orjson.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        content_type = named.pop("content-type", "application/json")
        return self.client.post(
            API + path, sent, content_type=content_type, headers={**self.headers, **named}
        )


def operations() -> Iterator[tuple[str, str, Any]]:
    """Every operation of the API: method, path as in `/runs/{run_id}`, and the operation."""
    for router in api._get_bound_routers():
        for path, view in router.path_operations.items():
            for operation in view.operations:
                for method in operation.methods:
                    yield method, "/" + re.sub(r"{\w+:", "{", path).strip("/"), operation


def person(role: Role | None) -> Any:
    """A user with this role; None: without any membership."""
    name = role or "guest"
    user = get_user_model().objects.create_user(name)
    if role is not None:
        Membership.objects.create(user=user, role=role)
    return user


def with_session(user: Any) -> Caller:
    """The person's browser: session cookie, and the CSRF token as our own page sends it."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    token = "a" * 32
    client.cookies[settings.CSRF_COOKIE_NAME] = token
    return Caller(client, {"X-CSRFToken": token})


def with_token(role: Role, **changes: Any) -> Caller:
    """A service with a token of this role; `changes` are written over the stored row."""
    issued = tokens.issue_token(f"a test's {role}", role)
    ApiToken.objects.filter(pk=issued.token.pk).update(last_used_at=timezone.now(), **changes)
    return Caller(headers={"Authorization": f"Bearer {issued.key}"})


MAKERS: dict[str, Callable[[], Caller]] = {
    "anonymous": Caller,
    "guest": lambda: with_session(person(None)),
    "viewer": lambda: with_session(person(Role.VIEWER)),
    "operator": lambda: with_session(person(Role.OPERATOR)),
    "reviewer": lambda: with_session(person(Role.REVIEWER)),
    "admin": lambda: with_session(person(Role.ADMIN)),
    "viewer token": lambda: with_token(Role.VIEWER),
    "operator token": lambda: with_token(Role.OPERATOR),
    "admin token": lambda: with_token(Role.ADMIN),
    "revoked token": lambda: with_token(Role.ADMIN, revoked_at=timezone.now()),
    "expired token": lambda: with_token(
        Role.ADMIN, expires_at=timezone.now() - timedelta(seconds=1)
    ),
}
