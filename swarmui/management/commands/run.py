"""`swarmui run SPEC.yaml [--wait] [--watch] [--json]`: starts a run from the command line."""

import sys
from argparse import ArgumentParser
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from django.conf import settings

from swarmui.embedded import in_process_worker, server_of
from swarmui.execution.launch import launch_run
from swarmui.management.product_command import ProductCommand, UsageError
from swarmui.management.summary import exit_code, failure_lines, summary_lines, write_lines
from swarmui.management.watching import wait_for_end, watch
from swarmui.models import Run
from swarmui.selectors.documents import run_document
from verifier.limits import MAX_SPEC_BYTES
from verifier.spec import RunSpec, SpecError, load_spec_text


class Command(ProductCommand):
    help = (
        "Start a run. Exit code: 0 it ended well, or is under way; 1 it failed; 2 the spec or the "
        "command line is wrong; 3 it waits for a person; 130 interrupted, and not over."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("spec", metavar="SPEC.yaml", help="a run spec, YAML or JSON")
        parser.add_argument("--wait", action="store_true", help="return when the run has ended")
        parser.add_argument("--watch", action="store_true", help="draw the tree until it has ended")
        parser.add_argument("--json", action="store_true", help="print the run document")

    def handle(self, *args: Any, **options: Any) -> None:
        spec = read_spec(Path(options["spec"]))
        try:
            run = launch_run(spec, origin="cli", roots=None, cwd=Path.cwd()).run
        except SpecError as error:
            raise UsageError(_problems(error)) from error
        if not options["json"]:
            self.stdout.write(f"run {run.pk}")
            self.stdout.flush()
        # Without a server on this home nobody else would work on the run: this process does.
        works_itself = settings.EMBEDDED and server_of(settings.SWARMUI_HOME) is None
        if options["watch"] or options["wait"] or works_itself:
            try:
                self._see_through(run, works_itself, options)
            except KeyboardInterrupt:
                self.stderr.write(left_words(run, works_itself), lambda line: line)
                raise
        document = run_document(run.pk)
        if options["json"]:
            self.print_json(document)
        elif options["watch"]:
            write_lines(["", *summary_lines(document)], sys.stdout)
        elif options["wait"] or works_itself:
            write_lines(failure_lines(document), sys.stdout)
        sys.exit(exit_code(document))

    def _see_through(self, run: Run, works_itself: bool, options: dict[str, Any]) -> None:
        worker: AbstractContextManager[object] = (
            in_process_worker() if works_itself else nullcontext()
        )
        with worker:
            if options["watch"]:
                # The document alone belongs on standard output.
                watch(run.pk, run.goal, sys.stderr if options["json"] else sys.stdout)
            else:
                wait_for_end(run.pk)


def left_words(run: Run, works_itself: bool) -> str:
    """What becomes of a run whose command was interrupted."""
    if works_itself:
        return (
            f"Interrupted: run {run.pk} is not over, and nobody works on it now. "
            "`swarmui up` takes it up again; what was cut off and may have had effects is not "
            "begun a second time."
        )
    return f"Interrupted: only the watching ends. The server goes on with run {run.pk}."


def read_spec(path: Path) -> RunSpec:
    """The spec in a file; raises UsageError with a line per problem."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SPEC_BYTES + 1)
        if len(content) > MAX_SPEC_BYTES:
            raise UsageError(_too_large(path))
        text = content.decode("utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text (byte {error.start})") from error
    try:
        return load_spec_text(text)
    except SpecError as error:
        raise UsageError(_problems(error)) from error


def _too_large(path: Path) -> str:
    # A pipe's size is not known; of it, and of a file that grew, only this is certain.
    size = path.stat().st_size
    got = f"{size:,}" if size > MAX_SPEC_BYTES else "more"
    return f"{path}: expected at most {MAX_SPEC_BYTES:,} bytes, got {got}"


def _problems(error: SpecError) -> str:
    return "\n".join(f"{problem.path or 'spec'}: {problem.message}" for problem in error.problems)
