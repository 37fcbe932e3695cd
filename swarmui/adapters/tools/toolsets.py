"""Which tools a set stands for."""

from collections.abc import Iterable

from swarmui.adapters.sandbox import Isolation, probe
from swarmui.adapters.tools.filesystem import FilesystemTools
from swarmui.adapters.tools.search import SearchTools
from swarmui.adapters.tools.shell import ShellTools
from swarmui.adapters.workspace import WorkspaceDir
from verifier.boundary.tool_adapter import Tool, tool
from verifier.ports import Control


def build_tools(
    names: Iterable[str], workspace: WorkspaceDir, *, control: Control, allow_not_isolated: bool
) -> tuple[Tool, ...]:
    """The tools of the named sets, on one worker's workspace.

    `shell` gives no tool where commands can be shut in neither way: the worker is then not
    offered what could only run bare. Raises `ValueError` for a set that does not exist.
    """
    wanted = dict.fromkeys(names)
    unknown = [name for name in wanted if name not in ("filesystem", "shell")]
    if unknown:
        raise ValueError(f"tool sets are filesystem and shell, not {unknown[0]!r}")
    tools: list[Tool] = []
    if "filesystem" in wanted:
        tools += _filesystem(workspace)
    if "shell" in wanted:
        tools += _shell(workspace, control, allow_not_isolated)
    return tuple(tools)


def commands_isolated(names: Iterable[str], *, allow_not_isolated: bool) -> bool | None:
    """Whether commands run by these tools are shut in; None when none can be run at all."""
    if "shell" not in names:
        return None
    if probe().usable:
        return True
    return False if allow_not_isolated else None


def _filesystem(workspace: WorkspaceDir) -> list[Tool]:
    files, search = FilesystemTools(workspace), SearchTools(workspace)
    return [
        tool("filesystem__read_file")(files.read_file),
        tool("filesystem__list_dir")(files.list_dir),
        tool("filesystem__glob")(search.glob),
        tool("filesystem__grep")(search.grep),
        tool("filesystem__write_file")(files.write_file),
        tool("filesystem__append_file")(files.append_file),
        tool("filesystem__mkdir")(files.mkdir),
    ]


def _shell(workspace: WorkspaceDir, control: Control, allow_not_isolated: bool) -> list[Tool]:
    isolated = commands_isolated(["shell"], allow_not_isolated=allow_not_isolated)
    if isolated is None:
        return []
    isolation = Isolation.SANDBOX if isolated else Isolation.HOST
    return [tool("shell__run")(ShellTools(workspace, control, isolation).run)]
