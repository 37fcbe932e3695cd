"""How often a password may be guessed: counted before it is checked, given back when it is right.

Counting first means that guesses sent at the same time cannot all pass together. The counters
live in the cache that all web processes share. Without that cache nobody is let in: a limit that
cannot count must not wave people through.
"""

import hashlib
import logging
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from time import time

from django.core.cache import cache

logger = logging.getLogger(__name__)

WINDOW_S = 60
PER_ACCOUNT_AND_ADDRESS = 5
PER_ADDRESS = 30  # many accounts tried from one place
UNKNOWN_WAIT_S = 30


@dataclass(frozen=True)
class Guess:
    """One attempt to sign in: which account, from which address."""

    account: str
    address: str

    def counters(self) -> dict[str, int]:
        """Cache keys and how many guesses each allows per window."""
        account = unicodedata.normalize("NFKC", self.account).casefold()
        return {
            _key(account, self.address): PER_ACCOUNT_AND_ADDRESS,
            _key(self.address): PER_ADDRESS,
        }


def seconds_to_wait(guess: Guess) -> int:
    """Count this guess. 0: go on; else the seconds after which to try again."""
    try:
        waits = [_count(key, allowed) for key, allowed in guess.counters().items()]
    except Exception:  # every cache backend fails in its own way
        logger.exception("sign-in attempts cannot be counted; nobody is let in meanwhile")
        return UNKNOWN_WAIT_S
    return max(waits)


def forgive(guess: Guess) -> None:
    """The password was right: the account's failures from there no longer count."""
    own, shared = guess.counters()
    cache.delete_many([own, f"{own}:until"])
    with suppress(ValueError):  # the window has ended meanwhile
        cache.decr(shared)


def _count(key: str, allowed: int) -> int:
    now = time()
    cache.add(f"{key}:until", now + WINDOW_S, WINDOW_S)
    cache.add(key, 0, WINDOW_S)
    try:
        used = cache.incr(key)
    except ValueError:  # the window ended between the two calls
        cache.set(key, 1, WINDOW_S)
        used = 1
    if used <= allowed:
        return 0
    until = cache.get(f"{key}:until") or now + WINDOW_S
    return max(1, ceil(until - now))


def _key(*parts: str) -> str:
    # Hashed: an account name may hold anything, a cache key may not.
    return "sign-in:" + hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
