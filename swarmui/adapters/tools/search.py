"""Finding files by name and by content. A search is bounded and says when it saw not all."""

import os
import stat
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, JsonValue

from swarmui.adapters.tools.filesystem import Path
from swarmui.adapters.tools.patterns import Glob, under
from swarmui.adapters.tools.told import told
from swarmui.adapters.workspace import WorkspaceDir
from swarmui.adapters.workspace.walk import Found, Walk, shown
from verifier.framing import one_line

WALKED = 50_000  # entries one search looks at
FILES_FOUND = 1_000
MATCHES_FOUND = 200
LINE_CHARS = 300
SEARCHED_FILE_BYTES = 4 * 1024 * 1024
SEARCHED_BYTES = 256 * 1024 * 1024

_Pattern = Annotated[str, Field(description="e.g. *.md, src/**/*.py; ** is any folders")]


class SearchTools:
    """The tools on one workspace."""

    def __init__(self, workspace: WorkspaceDir) -> None:
        self._workspace = workspace

    def glob(self, pattern: _Pattern, path: Path = ".") -> JsonValue:
        """Find files by name: paths relative to the workspace, below the folder `path`."""
        wanted = Glob(pattern)
        files: list[JsonValue] = []
        with told(path), self._workspace.open_folder(path) as folder:
            walk = Walk(folder, max_entries=WALKED)
            for found in walk:
                if not found.is_file or not wanted.matches(found.relative):
                    continue
                if len(files) == FILES_FOUND:
                    return {"files": files, "complete": False}
                files.append(shown(under(path, found.relative)))
        return {"files": files, "complete": walk.left_out is None}

    def grep(
        self,
        text: Annotated[
            str, Field(min_length=1, max_length=500, description="Taken literally, no pattern")
        ],
        path: Path = ".",
        files: _Pattern = "**/*",
        ignore_case: bool = False,
    ) -> JsonValue:
        """Find lines that contain a text, in the text files below the folder `path`."""
        search = _Search(text, Glob(files), ignore_case)
        with told(path), self._workspace.open_folder(path) as folder:
            walk = Walk(folder, max_entries=WALKED)
            for found in walk:
                search.look_into(found, under(path, found.relative))
                if search.is_full:
                    search.complete = False
                    break
        complete = search.complete and walk.left_out is None
        return {"matches": search.matches, "complete": complete}


class _Search:
    def __init__(self, text: str, files: Glob, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._text = text.casefold() if ignore_case else text
        self._files = files
        self._left = SEARCHED_BYTES
        self.matches: list[JsonValue] = []
        self.complete = True

    @property
    def is_full(self) -> bool:
        return len(self.matches) >= MATCHES_FOUND or self._left <= 0

    def look_into(self, found: Found, path: str) -> None:
        if not found.is_file or not self._files.matches(found.relative):
            return
        data = self._read(found)
        if data is None or b"\0" in data[:8_192]:
            return
        self._left -= len(data)
        for number, line in self._matching_lines(data.decode("utf-8", "replace")):
            if self.is_full:
                self.complete = False
                return
            shown_line = one_line(line, LINE_CHARS)
            self.matches.append({"path": shown(path), "line": number, "text": shown_line})

    def _matching_lines(self, text: str) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(text.split("\n"), start=1):
            if self._text in (line.casefold() if self._ignore_case else line):
                yield number, line

    def _read(self, found: Found) -> bytes | None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            fd = os.open(found.name, flags, dir_fd=found.parent)
        except OSError:
            self.complete = False
            return None
        try:
            now = os.fstat(fd)
            is_own = stat.S_ISREG(now.st_mode) and now.st_nlink == 1
            if not is_own or now.st_size > min(SEARCHED_FILE_BYTES, self._left):
                self.complete = False
                return None
            return os.read(fd, now.st_size)
        finally:
            os.close(fd)
