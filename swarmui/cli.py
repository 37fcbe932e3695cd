"""The command `swarmui`, the same as `python manage.py`.

Exit codes: 0 nothing failed and nothing waits · 1 a node failed · 2 wrong usage · 3 waits for a
person · 130 interrupted. Whatever an operator mistyped is answered in a line, never with a
traceback.
"""

import io
import os
import sys
from collections.abc import Sequence

USAGE = 2
INTERRUPTED = 130

SUMMARY = """\
usage: swarmui COMMAND …

  up                          serve pages, API and worker from one process
  run SPEC.yaml               start a run (--wait, --watch, --json)
  ledger verify [RUN]         check the hash chain, and that the events give the rows
  ledger replay RUN           the tree as the events tell it (--at SEQ, --json)
  sign_in_link [NAME]         a one-time link for the admin, or for another person
  person add NAME             one more person (--role viewer|operator|reviewer|admin)
  token create NAME           a service token (--role viewer|operator|admin)
  seed --nodes N              an invented run of any size, for screenshots and benches

`swarmui COMMAND --help` explains one; `swarmui help` lists every command of the framework, too.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command and ends the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character shows its escape instead of ending the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    words = list(sys.argv if arguments is None else ["swarmui", *arguments])
    if len(words) < 2 or words[1] in {"-h", "--help"}:
        sys.stdout.write(SUMMARY)
        sys.exit(USAGE if len(words) < 2 else 0)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "swarmui.settings")
    try:
        _execute(words)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _execute(words: list[str]) -> None:
    import django
    from django.core.management import ManagementUtility, get_commands

    fault = _fault_of_settings()
    if fault is not None:
        sys.exit(_usage_error(fault))
    django.setup()
    if words[1] not in {"help", "--version"} and words[1] not in get_commands():
        sys.exit(_usage_error(f"there is no command {words[1]!r}\n\n{SUMMARY}"))
    ManagementUtility(words).execute()


def _fault_of_settings() -> str | None:
    """What is wrong with the environment, a line per variable; None when it can be read."""
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from pydantic import ValidationError

    try:
        _ = settings.INSTALLED_APPS
    except ValidationError as error:
        return "\n".join(
            f"{'.'.join(str(part) for part in fault['loc']).upper()}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
    except (ImproperlyConfigured, OSError, ValueError) as error:
        return str(error)
    return None


def _usage_error(message: str) -> int:
    sys.stderr.write(f"swarmui: {message.rstrip()}\n")
    return USAGE


if __name__ == "__main__":
    main()
