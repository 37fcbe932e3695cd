"""What goes wrong with a file, told to the worker instead of raised past it."""

import contextlib
from collections.abc import Iterator

from swarmui.adapters.paths import OutsideWorkspace, PathRefused
from verifier.boundary.tool_adapter import ToolDenied, ToolFailure
from verifier.framing import one_line

_PATH_CHARS = 200


@contextlib.contextmanager
def told(path: str) -> Iterator[None]:
    """A path out of the workspace is denied; one that does not work out has failed."""
    name = one_line(path, _PATH_CHARS)
    try:
        yield
    except OutsideWorkspace as refusal:
        raise ToolDenied(f"{name}: {refusal}") from None
    except PathRefused as refusal:
        raise ToolFailure(f"{name}: {refusal}") from None
    except OSError as error:
        raise ToolFailure(f"{name}: {error.strerror or error}") from None
