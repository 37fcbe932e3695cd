"""One-time sign-in links as a line of text."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User

from swarmui.services.sign_in import LINK_LIFETIME, issue_link


def link_line(person: User | None = None, lifetime: timedelta = LINK_LIFETIME) -> str:
    """A new link, for the local admin if for nobody else, as the last word of the line."""
    minutes = int(lifetime.total_seconds() // 60)
    within = f"{minutes // 60} hours" if minutes % 60 == 0 else f"{minutes} minutes"
    path = issue_link(person, lifetime=lifetime)
    if settings.TRUSTED_ORIGINS:
        return f"Sign in, once and within {within}: {settings.TRUSTED_ORIGINS[0]}{path}"
    return f"Sign in, once and within {within}, at the server's address followed by {path}"
