"""Log lines: one event, one line, whatever the text in it."""

import logging

from verifier.framing import visible


class OneLineFormatter(logging.Formatter):
    """Control characters in logged text are shown, never obeyed by a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record)).replace("\n", "\n  | ")


def one_line_formatter() -> OneLineFormatter:
    return OneLineFormatter("%(asctime)s %(levelname)-7s %(name)s %(message)s")
