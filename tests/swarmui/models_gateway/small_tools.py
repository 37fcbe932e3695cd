"""Two tools that touch nothing, for loops that need some."""

import threading
from collections.abc import Callable
from typing import Any

from verifier.boundary.tool_adapter import Tool, ToolDenied, ToolFailure, tool


def read_text(path: str) -> str:
    """Read a file."""
    if path == "locked":
        raise ToolDenied("not yours")
    if path == "gone":
        raise ToolFailure("no such file")
    if path == "broken":
        raise ZeroDivisionError("inside")
    return f"the text of {path}"


def write_text(path: str, content: str) -> str:
    """Write a file."""
    return f"{len(content)} characters written to {path}"


READ: Tool = tool("filesystem__read_file")(read_text)
WRITE: Tool = tool("filesystem__write_file")(write_text)


def call(path: str, name: str = "filesystem__read_file") -> dict[str, Any]:
    return {"tool": name, "args": {"path": path}}


def noting_threads(threads: list[int], before: Callable[[], None] = lambda: None) -> Tool:
    @tool("filesystem__read_file")
    def read(path: str) -> str:
        """Read a file."""
        threads.append(threading.get_ident())
        before()
        return path

    return read
