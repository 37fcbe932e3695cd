"""What the library raises for callers' mistakes. Expected outcomes are values, never these."""


class VerifierError(Exception):
    """Base of all errors raised on purpose."""


class IllegalMove(VerifierError):
    """The table of moves does not allow this change of status."""


class LedgerFault(VerifierError):
    """The ledger contradicts itself: a gap, a changed row, a fold that differs from the rows."""
