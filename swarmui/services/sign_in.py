"""How a person gets in: one-time links, and how long a session may last.

A link is stored as a digest, is read without being used, and is used once, by compare-and-set.
A session ends after 12 idle hours and after 7 days whatever happens. Source: domain §9.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.contrib.auth import login, logout
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from swarmui.models import Membership, Role, SignInLink

LOCAL_ADMIN = "admin"
LINK_LIFETIME = timedelta(minutes=15)
MAX_LINK_LIFETIME = timedelta(hours=24)
IDLE_AFTER = timedelta(hours=12)
SESSION_LIFETIME = timedelta(days=7)
SEEN_EVERY = timedelta(minutes=10)  # how exactly idleness is measured; each note is a write

BACKEND = "django.contrib.auth.backends.ModelBackend"
_SIGNED_IN_AT = "signed_in_at"
_SEEN_AT = "seen_at"


class LinkState(StrEnum):
    """What a one-time link is worth."""

    VALID = "valid"
    USED = "used"
    EXPIRED = "expired"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class LinkUse:
    """`user` is there exactly when the link was `VALID` and this call was the one to use it."""

    state: LinkState
    user: User | None = None


def ensure_local_admin() -> User:
    """The person of an embedded install: `admin`, without a password, signed in by link.

    An account that is there already keeps its password and its role.
    """
    with transaction.atomic():
        user, created = User.objects.get_or_create(username=LOCAL_ADMIN)
        if created:
            user.set_unusable_password()
            user.save(update_fields=["password"])
        Membership.objects.get_or_create(user=user, defaults={"role": Role.ADMIN})
    return user


def issue_link(user: User | None = None, *, lifetime: timedelta = LINK_LIFETIME) -> str:
    """The path of a new one-time link for `user`; without one, for the local admin.

    Raises ValueError for a lifetime of under a second or over 24 hours.
    """
    if not timedelta(seconds=1) <= lifetime <= MAX_LINK_LIFETIME:
        raise ValueError(f"a sign-in link lives for at most 24 hours, not {lifetime}")
    secret = secrets.token_urlsafe(32)
    SignInLink.objects.create(
        digest=_digest(secret),
        user=user or ensure_local_admin(),
        expires_at=timezone.now() + lifetime,
    )
    return reverse("sign_in_link", args=[secret])


def read_link(secret: str) -> LinkState:
    """What the link is worth now. Changes nothing: link previews and scanners call this."""
    link = SignInLink.objects.filter(digest=_digest(secret)).first()
    return _state_of(link)


def use_link(secret: str) -> LinkUse:
    """Use the link up. Of any number of calls at once, exactly one gets the user.

    The update names columns of its own row alone: with a joined table in the condition,
    PostgreSQL would not look at the row again after waiting for it, and two calls could win.
    """
    now = timezone.now()
    taken = SignInLink.objects.filter(
        digest=_digest(secret), used_at__isnull=True, expires_at__gt=now
    ).update(used_at=now)
    link = SignInLink.objects.select_related("user").filter(digest=_digest(secret)).first()
    if not taken or link is None:
        return LinkUse(_state_of(link))
    return (
        LinkUse(LinkState.VALID, link.user) if link.user.is_active else LinkUse(LinkState.UNKNOWN)
    )


def start_session(request: HttpRequest, user: User) -> None:
    """Sign `user` in: a new session key, a new CSRF token, both clocks started."""
    login(request, user, backend=BACKEND)
    now = timezone.now().isoformat()
    request.session[_SIGNED_IN_AT] = now
    request.session[_SEEN_AT] = now
    request.session.set_expiry(int(IDLE_AFTER.total_seconds()))


def session_has_ended(session: Any) -> bool:
    """Whether a signed-in session is past its 7 days, or past 12 idle hours."""
    now = timezone.now()
    started, seen = _instant(session, _SIGNED_IN_AT), _instant(session, _SEEN_AT)
    return (started is not None and now - started > SESSION_LIFETIME) or (
        seen is not None and now - seen > IDLE_AFTER
    )


def keep_alive(request: HttpRequest) -> None:
    """End a session whose time is over; else start its idle clock anew, every few minutes.

    A session that was opened elsewhere in Django has no clocks yet: both start now.
    """
    session = request.session
    if session_has_ended(session):
        logout(request)
        return
    now = timezone.now()
    seen = _instant(session, _SEEN_AT)
    if seen is None or now - seen > SEEN_EVERY:
        session[_SEEN_AT] = now.isoformat()
        session.setdefault(_SIGNED_IN_AT, now.isoformat())


def _state_of(link: SignInLink | None) -> LinkState:
    if link is None:
        return LinkState.UNKNOWN
    if link.used_at is not None:
        return LinkState.USED
    return LinkState.EXPIRED if link.expires_at <= timezone.now() else LinkState.VALID


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _instant(session: Any, name: str) -> datetime | None:
    text = session.get(name)
    return datetime.fromisoformat(text) if isinstance(text, str) else None
