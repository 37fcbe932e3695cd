"""Reading and writing files. Every figure bounds what one call can cost the service."""

import codecs
import os
from typing import Annotated

from pydantic import Field, JsonValue

from swarmui.adapters.paths import write_all
from swarmui.adapters.sandbox.limits import FILE_BYTES
from swarmui.adapters.tools.told import told
from swarmui.adapters.workspace import WorkspaceDir
from swarmui.adapters.workspace.walk import shown
from verifier.boundary.tool_adapter import ToolFailure

READ_BYTES = 60_000  # one answer, below what an observation holds
WRITE_BYTES = 1_000_000  # one call's content
LISTED = 1_000

Path = Annotated[str, Field(description="Path relative to the workspace, e.g. src/main.py")]
Content = Annotated[str, Field(description="Text, written as UTF-8")]


class FilesystemTools:
    """The tools on one workspace."""

    def __init__(self, workspace: WorkspaceDir) -> None:
        self._workspace = workspace

    def read_file(
        self,
        path: Path,
        offset: Annotated[int, Field(ge=0, description="First byte to read")] = 0,
        max_bytes: Annotated[int, Field(ge=1, le=READ_BYTES)] = READ_BYTES,
    ) -> str:
        """Read a text file. Of a long one a part is returned, which says where to read on."""
        with told(path), self._workspace.open_read(path) as fd:
            size = os.fstat(fd).st_size
            data = os.pread(fd, max_bytes, offset)
        if b"\0" in data:
            raise ToolFailure(f"{path}: not a text file (it holds NUL bytes, {size:,} bytes long)")
        end = offset + len(data)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(data, final=end >= size)
        end -= len(decoder.getstate()[0])  # a character cut in two belongs to the next part
        if end >= size:
            return text
        return f"{text}\n… [{size - end:,} bytes not shown: read on with offset={end}]"

    def list_dir(self, path: Path = ".") -> JsonValue:
        """List a folder: names with their kind (file, dir, link, other) and size in bytes."""
        with told(path):
            entries, complete = self._workspace.entries(path, LISTED)
        listed: list[JsonValue] = [
            {"name": shown(entry.name), "kind": entry.kind, "size": entry.size} for entry in entries
        ]
        return {"entries": listed, "complete": complete}

    def write_file(self, path: Path, content: Content) -> JsonValue:
        """Write a text file, replacing what it held; missing folders are made."""
        data = _encoded(content)
        with told(path), self._workspace.open_write(path) as fd:
            write_all(fd, data)
        return {"path": path, "bytes": len(data)}

    def append_file(self, path: Path, content: Content) -> JsonValue:
        """Add text to the end of a file; a missing one is made."""
        data = _encoded(content)
        with told(path), self._workspace.open_write(path, append=True) as fd:
            size = os.fstat(fd).st_size
            if size + len(data) > FILE_BYTES:
                raise ToolFailure(f"{path}: a file may hold at most {FILE_BYTES:,} bytes")
            write_all(fd, data)
        return {"path": path, "bytes": size + len(data)}

    def mkdir(self, path: Path) -> JsonValue:
        """Make a folder, together with missing ones above it."""
        with told(path):
            if not self._workspace.make_folder(path):
                raise ToolFailure(f"{path}: the folder exists already")
        return {"path": path}


def _encoded(content: str) -> bytes:
    try:
        data = content.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolFailure("the content is not valid text: it holds a lone surrogate") from None
    if len(data) > WRITE_BYTES:
        raise ToolFailure(
            f"the content has {len(data):,} bytes, one call writes at most {WRITE_BYTES:,}"
        )
    return data
