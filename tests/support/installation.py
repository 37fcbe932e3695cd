"""A whole product as its operators run it, started by a test: embedded, or the production set.

    with embedded_installation(home) as installation:
        run = installation.post("/api/v1/runs", spec, role="operator").json()
        installation["server"].kill()
        installation["server"].start()

Everything it started is gone when the block ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit
from uuid import uuid4

from tests.support import postgres
from tests.support.http import Answer, request
from tests.support.processes import Program, free_port
from tests.support.sources import ROOT
from tests.waiting import wait_until
from verifier.lifecycle import TERMINAL

if TYPE_CHECKING:
    from playwright.sync_api import Page

Kind = Literal["embedded", "production"]
UVICORN = (
    "uvicorn", "swarmui.asgi:application", "--host=127.0.0.1", "--log-level=warning",
    "--lifespan=off", "--ws=swarmui.live.protocol:BoundedWebSocketProtocol", "--ws-max-size=4096",
    "--ws-max-queue=8", "--ws-per-message-deflate=false", "--timeout-graceful-shutdown=3",
)  # fmt: skip
CELERY = ("celery", "--app=swarmui")
QUIET = ("--without-gossip", "--without-mingle", "--loglevel=WARNING")
START_S = 40
CLI_S = 90
#: Recorded models wait this fraction of the pauses their files name.
DELAY_SCALE = "0.1"


class Installation:
    """A product with a home of its own. `installation["server"]` is one of its programs:
    embedded has `server`; production has `server`, `worker1` … and `beat`."""

    def __init__(self, kind: Kind, home: Path, env: Mapping[str, str]) -> None:
        self.kind = kind
        self.home = home
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "SWARMUI_HOME": str(home),
            "SWARMUI_WORKSPACE_ROOTS": f"{ROOT},{home.parent}",
            "SWARMUI_RECORDED_DELAY_SCALE": DELAY_SCALE,
            **env,
        }
        self._programs: dict[str, Program] = {}
        self._tokens: dict[str, str] = {}

    # --- its programs ---

    def add(self, name: str, *arguments: str, **env: str) -> Program:
        """A Python program of the product, `python -m …`, not yet started."""
        log = self.home / "logs" / f"{name}.log"
        argv = [sys.executable, "-m", *arguments]
        program = Program(name, argv, {**self.env, **env}, ROOT, log)
        self._programs[name] = program
        return program

    def __getitem__(self, name: str) -> Program:
        return self._programs[name]

    @property
    def workers(self) -> list[Program]:
        """What executes attempts: the server itself when embedded."""
        return [p for name, p in self._programs.items() if name.startswith("worker")] or [
            self["server"]
        ]

    def start(self) -> None:
        for program in self._programs.values():
            program.start()
        self.wait_ready()

    def wait_ready(self) -> None:
        """Returns when the server answers that it is ready; raises with its log when it ended."""

        def is_ready() -> bool:
            server = self["server"]
            if not server.is_running:
                raise AssertionError(f"the server ended\n{server.tail()}")
            try:
                return self.get("/readyz").status == 200
            except OSError:
                return False

        try:
            wait_until(is_ready, START_S, what="/readyz to answer 200")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.tails()}") from None

    def end(self) -> None:
        """Kill everything: nothing of a test outlives it."""
        for program in reversed(self._programs.values()):
            program.kill()

    def tails(self) -> str:
        """The last lines of every program, for messages of failed tests."""
        return "\n".join(program.tail() for program in self._programs.values())

    # --- from outside ---

    def cli(
        self,
        *arguments: str,
        timeout: float = CLI_S,
        cwd: Path = ROOT,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """`swarmui …` on this installation; the exit code is the caller's to judge."""
        return subprocess.run(
            [sys.executable, "-m", "swarmui.cli", *arguments],
            env={**self.env, **(env or {})},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def succeed(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """As `cli`, for what must work: returns the output."""
        done = self.cli(*arguments, env=env)
        if done.returncode != 0:
            raise AssertionError(f"swarmui {' '.join(arguments)}: {done.stderr or done.stdout}")
        return done.stdout

    def token(self, role: str = "operator") -> str:
        """A service token of that role; one per role and installation."""
        if role not in self._tokens:
            made = self.succeed("token", "create", f"tests {role}", "--role", role)
            self._tokens[role] = made.split()[-1]
        return self._tokens[role]

    def get(self, path: str, *, role: str | None = None) -> Answer:
        return self.ask("GET", path, role=role)

    def post(self, path: str, body: object, *, role: str = "operator", **headers: str) -> Answer:
        return self.ask("POST", path, body, role=role, headers=headers)

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        role: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request, with the token of `role` unless that is None."""
        sent = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        if role is not None:
            sent["Authorization"] = f"Bearer {self.token(role)}"
        return request(method, self.base_url + path, json_body=body, headers=sent)

    def run_document(self, run_id: str) -> dict[str, Any]:
        answer = self.get(f"/api/v1/runs/{run_id}?include=nodes", role="viewer")
        assert answer.status == 200, answer.text
        document: dict[str, Any] = answer.json()
        return document

    def wait_for_run(self, run_id: str, timeout: float = 60) -> dict[str, Any]:
        """The run document once the run has ended."""

        def ended() -> dict[str, Any] | None:
            document = self.run_document(run_id)
            return document if document["status"] in TERMINAL else None

        try:
            found = wait_until(ended, timeout, what=f"run {run_id} to end")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.tails()}") from None
        assert found is not None
        return found

    # --- as a person ---

    def sign_in_link(self) -> str:
        """A fresh one-time link for the local admin, as a path."""
        made = self.succeed("sign_in_link")
        return urlsplit(made.split()[-1]).path

    def sign_in(self, page: Page) -> None:
        """Sign the local admin in, in a browser; leaves the page on the list of runs."""
        page.goto(self.base_url + self.sign_in_link())
        page.get_by_role("button").first.click()
        page.wait_for_url(f"{self.base_url}/runs/**")


@contextmanager
def embedded_installation(home: Path, **env: str) -> Iterator[Installation]:
    """`swarmui up` on a home of its own."""
    home.mkdir(parents=True, exist_ok=True)
    installation = Installation("embedded", home, env)
    port = str(installation.port)
    installation.add("server", "swarmui.cli", "up", "--host", "127.0.0.1", "--port", port)
    with _running(installation):
        yield installation


@contextmanager
def production_installation(
    home: Path,
    database_url: str,
    redis_url: str,
    *,
    workers: int = 1,
    concurrency: int = 4,
    sweeps: bool = True,
    **env: str,
) -> Iterator[Installation]:
    """Web, workers and beat as separate processes on PostgreSQL and Redis."""
    home.mkdir(parents=True, exist_ok=True)
    password = uuid4().hex
    role = postgres.role_of(database_url)
    app_url = postgres.as_role(database_url, role, password)
    installation = Installation(
        "production",
        home,
        {
            "SWARMUI_ENV": "production",
            "DATABASE_URL": app_url,
            "REDIS_URL": redis_url,
            "SECRET_KEY": "a key for tests, of no worth to anybody else",
            "SWARMUI_QUEUE": f"test-{uuid4().hex[:12]}",
            **env,
        },
    )
    installation.env["TRUSTED_ORIGINS"] = installation.base_url
    # As in docker-compose.yml: the owner migrates, everything else runs as a role that can add
    # to the ledger and not change it.
    owner = {"DATABASE_URL": database_url, "APP_DB_PASSWORD": password}
    installation.succeed("migrate", "--verbosity", "0", "--skip-checks", env=owner)
    installation.succeed("grant_app_role", role, "--password-env", "APP_DB_PASSWORD", env=owner)
    installation.succeed("collectstatic", "--noinput", "--verbosity", "0")
    installation.add("server", *UVICORN, f"--port={installation.port}", SWARMUI_PROCESS="web")
    as_worker = {"SWARMUI_PROCESS": "worker"}
    for number in range(1, workers + 1):
        options = [f"--hostname=w{number}@%h", f"--concurrency={concurrency}", *QUIET]
        installation.add(f"worker{number}", *CELERY, "worker", *options, **as_worker)
    if sweeps:
        options = [f"--pidfile={home}/beat.pid", "--loglevel=WARNING"]
        installation.add("beat", *CELERY, "beat", *options, **as_worker)
    with _running(installation):
        yield installation


@contextmanager
def _running(installation: Installation) -> Iterator[None]:
    try:
        installation.start()
        yield
    finally:
        installation.end()
