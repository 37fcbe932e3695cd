"""Service tokens: made once, shown once, stored as a digest.

A token is `sd_`, 256 random bits and a checksum, in hex: a secret scanner recognises it, and a
mistyped one is refused without asking the database. Source: domain §9; 90 days at most.
"""

import hashlib
import re
import secrets
import zlib
from dataclasses import dataclass
from datetime import timedelta
from hmac import compare_digest
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from swarmui.models import ApiToken, Role

MARK = "sd_"
MAX_LIFETIME = timedelta(days=90)
SERVICE_ROLES = frozenset({Role.VIEWER, Role.OPERATOR, Role.ADMIN})  # only people review
USE_NOTED_EVERY = timedelta(minutes=1)  # a write per request would cost more than it tells
PREFIX_CHARS = 11  # what may be shown of a token: the mark and 32 of its 256 bits
TOKEN_PATTERN = re.compile(r"sd_[0-9a-f]{72}")


@dataclass(frozen=True)
class IssuedToken:
    """The stored row and, this once, the key itself."""

    token: ApiToken
    key: str


def issue_token(
    name: str, role: Role, *, created_by: User | None = None, lifetime: timedelta = MAX_LIFETIME
) -> IssuedToken:
    """Make a token. `created_by` answers for what it does; None means the console.

    Raises ValueError for a blank or long name, a role no service may have, a lifetime that is
    not above zero or above 90 days.
    """
    if not 1 <= len(name.strip()) <= 80:
        raise ValueError(f"a token's name has 1 to 80 characters, not {len(name.strip())}")
    if role not in SERVICE_ROLES:
        raise ValueError(f"a service token is one of {sorted(SERVICE_ROLES)}, not {role}")
    if not timedelta(0) < lifetime <= MAX_LIFETIME:
        raise ValueError(f"a token lives at most {MAX_LIFETIME.days} days, not {lifetime}")
    key = _new_key()
    token = ApiToken.objects.create(
        name=name.strip(),
        prefix=key[:PREFIX_CHARS],
        digest=_digest(key),
        role=role,
        created_by=created_by,
        expires_at=timezone.now() + lifetime,
    )
    return IssuedToken(token, key)


def find_token(key: str) -> ApiToken | None:
    """The live token of this key: known, not revoked, not expired. Notes its use, coarsely."""
    if not is_well_formed(key):
        return None
    digest = _digest(key)
    candidates = ApiToken.objects.filter(prefix=key[:PREFIX_CHARS]).select_related("created_by")
    token = next((found for found in candidates if compare_digest(found.digest, digest)), None)
    if token is None or not _is_live(token):
        return None
    _note_use(token)
    return token


def revoke_token(token_id: UUID) -> bool:
    """End a token now. False: there is no such token, or it was revoked before."""
    return bool(
        ApiToken.objects.filter(pk=token_id, revoked_at__isnull=True).update(
            revoked_at=timezone.now()
        )
    )


def is_well_formed(key: str) -> bool:
    """Whether mark, length and checksum fit; says nothing about whether it is known."""
    if not TOKEN_PATTERN.fullmatch(key):
        return False
    return compare_digest(_checksum(key[:-8]), key[-8:])


def _is_live(token: ApiToken) -> bool:
    creator = token.created_by
    answered_for = creator is None or creator.is_active
    return answered_for and token.revoked_at is None and token.expires_at > timezone.now()


def _note_use(token: ApiToken) -> None:
    now = timezone.now()
    unnoted = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - USE_NOTED_EVERY)
    if token.last_used_at is None or token.last_used_at < now - USE_NOTED_EVERY:
        ApiToken.objects.filter(unnoted, pk=token.pk).update(last_used_at=now)


def _new_key() -> str:
    body = MARK + secrets.token_hex(32)
    return body + _checksum(body)


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"


def _digest(key: str) -> str:
    # The key has 256 random bits: a slow hash would add nothing.
    return hashlib.sha256(key.encode()).hexdigest()
