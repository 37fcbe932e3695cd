"""Running a program in the workspace. The sandbox is the border: it holds for every program."""

from typing import Annotated

from pydantic import Field, JsonValue

from swarmui.adapters.sandbox import Isolation, run_argv
from swarmui.adapters.sandbox.limits import MAX_ARGUMENTS
from swarmui.adapters.text import tail_of
from swarmui.adapters.workspace import WorkspaceDir
from verifier.boundary.tool_adapter import ToolFailure
from verifier.ports import Control

DEFAULT_TIMEOUT_S = 120
MAX_TIMEOUT_S = 600
STREAM_CHARS = 20_000  # the end of each stream is what a worker is shown


class ShellTools:
    """The tools on one workspace."""

    def __init__(self, workspace: WorkspaceDir, control: Control, isolation: Isolation) -> None:
        self._workspace = workspace
        self._control = control
        self._isolation = isolation

    def run(
        self,
        argv: Annotated[
            list[str],
            Field(
                min_length=1,
                max_length=MAX_ARGUMENTS,
                description='Program and arguments, e.g. ["python", "-m", "pytest"]. '
                "There is no shell: no pipes, no redirection, no expansion.",
            ),
        ],
        timeout_s: Annotated[int, Field(ge=1, le=MAX_TIMEOUT_S)] = DEFAULT_TIMEOUT_S,
    ) -> JsonValue:
        """Run a program in the workspace, without network, and wait for its end. Returns its
        exit code and the end of what it wrote; it is ended with all its children at the
        timeout."""
        outside = self._isolation is Isolation.HOST
        result = run_argv(
            argv,
            workdir=self._workspace.root,
            timeout_s=min(timeout_s, self._control.remaining_s()),
            env={"HOME": str(self._workspace.root)} if outside else {},
            isolation=self._isolation,
            control=self._control,
        )
        if result.not_started is not None:
            raise ToolFailure(result.not_started)
        if result.stop_reason is not None:
            raise ToolFailure(f"stopped: {result.stop_reason.value}")
        return {
            "exit_code": result.exit_code,
            "timed_out": result.timed_out,
            "truncated": result.truncated,
            "bytes_seen": result.bytes_seen,
            "stdout": tail_of(result.stdout, STREAM_CHARS),
            "stderr": tail_of(result.stderr, STREAM_CHARS),
        }
