"""A real Chromium for browser tests: found, or installed with apt where that is allowed."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

from tests.support.finding import Missing

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

#: No sandbox: tests also run as root. The rest keeps the browser from calling out.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@functools.cache
def executable() -> str:
    """Path of a Chromium; raises Missing."""
    given = os.environ.get("CHROMIUM")
    if given:
        if not Path(given).is_file():
            raise Missing(f"CHROMIUM names {given}, which is not a file")
        return given
    return _found() or _installed()


def _found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _installed() -> str:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Missing(f"none of {', '.join(NAMES)} on the PATH, and apt-get is not ours to use")
    for command in (
        ["apt-get", "update", "-q"],
        ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            tail = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise Missing(f"`{' '.join(command)}` failed: {' '.join(tail)}")
    path = _found()
    if path is None:
        raise Missing("apt-get installed chromium, yet it is not on the PATH")
    return path
