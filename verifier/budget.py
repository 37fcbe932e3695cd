"""What a run may spend: caps per level, reservations before work, settlement after.

Source: domain §2. The arithmetic is here; the lock is the database's.
"""

from verifier.limits import MIN_TOKENS_TO_START, TOKEN_CAP, WALL_CLOCK_S


def token_cap(depth: int, wished: int | None, left: int | None) -> int | None:
    """The most tokens one attempt may use: the level's default or the wish, and no more than is
    left of the run's (None: the run has no cap). None when too little is left to begin."""
    own = wished if wished is not None else TOKEN_CAP[min(depth, max(TOKEN_CAP))]
    cap = own if left is None else min(own, left)
    return cap if cap >= MIN_TOKENS_TO_START else None


def wall_clock_s(depth: int, wished: int | None) -> int:
    """How long one attempt may run, in seconds."""
    default = WALL_CLOCK_S[min(depth, max(WALL_CLOCK_S))]
    return default if wished is None else min(wished, default)
