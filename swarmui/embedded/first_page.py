"""What a person finds when the server is up: a way in, and on the first start a run to look at."""

from __future__ import annotations

import logging
from pathlib import Path

from django.conf import settings

from swarmui.adapters.sandbox import probe
from swarmui.execution.launch import launch_run
from swarmui.models import Run
from swarmui.services.sign_in import ensure_local_admin, issue_link
from verifier.spec import SpecError, load_spec_text

logger = logging.getLogger(__name__)

DEMO = Path("examples/notes/spec.yaml")
DEMO_ORIGIN = "demo"


def sign_in_url(base_url: str) -> str:
    """A fresh one-time link for the person at this machine."""
    return base_url + issue_link()


def start_demo_once() -> bool:
    """Start the demo run, unless it was started on this database before or does not exist here.

    A demo that cannot start is logged: it never keeps the server from serving.
    """
    path = settings.BASE_DIR / DEMO
    if not path.is_file() or Run.objects.filter(origin=DEMO_ORIGIN).exists():
        return False
    try:
        launch_run(
            load_spec_text(path.read_text()),
            origin=DEMO_ORIGIN,
            owner=ensure_local_admin(),
            roots=None,
            cwd=settings.BASE_DIR,
            idempotency_key=DEMO_ORIGIN,
        )
    except SpecError as error:
        problems = "; ".join(f"{problem.path}: {problem.message}" for problem in error.problems)
        logger.warning("the demo run %s was not started: %s", DEMO, problems)
        return False
    return True


def sandbox_warning() -> str | None:
    """One line for the console when commands cannot be isolated here; None when they can."""
    found = probe()
    if found.usable:
        return None
    if settings.ALLOW_NOT_ISOLATED:
        return f"Commands run NOT ISOLATED, as SWARMUI_ALLOW_NOT_ISOLATED asks: {found.reason}"
    return f"Commands are off, because they cannot be isolated here: {found.reason}"
