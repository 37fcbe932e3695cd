"""The page on which a run is written and started. What was typed is never lost."""

import hashlib
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from swarmui.execution.launch import launch_run
from swarmui.services.roles import Action, Actor
from swarmui.services.runs import KeyReused
from swarmui.views.permission import require
from verifier.limits import MAX_SPEC_BYTES
from verifier.spec import (
    CommandWorker,
    ModelWorker,
    RunSpec,
    SpecError,
    SpecProblem,
    load_spec_text,
)

EXAMPLES = settings.BASE_DIR / "examples"
UNPROCESSABLE = 422
_RECORDED = "recorded:"
_IS_SPEC = re.compile(r"^goal:", re.MULTILINE)  # recordings lie beside them


@dataclass(frozen=True)
class Example:
    """A spec that is offered as a start."""

    name: str
    goal: str
    needs: str
    text: str


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    """The form; on POST the run, or the form again with every problem named by its path."""
    actor = require(request, Action.START_RUN)
    if request.method != "POST":
        return _form(request, _offered(request.GET.get("example", "")))
    text = request.POST.get("spec", "")
    try:
        run_id = _start(actor, text, request.POST.get("key", ""))
    except SpecError as error:
        return _form(request, text, problems=error.problems)
    return redirect("run", run_id=run_id)


def _start(actor: Actor, text: str, key: str) -> uuid.UUID:
    spec = load_spec_text(text)
    try:
        launch = launch_run(
            spec,
            owner=actor.user,
            origin=actor.origin,
            roots=settings.WORKSPACE_ROOTS,
            cwd=settings.BASE_DIR,
            idempotency_key=_form_key(key),
            body_hash=hashlib.sha256(text.encode(errors="replace")).hexdigest(),
        )
    except KeyReused:
        # The form was sent before, then changed and sent again: that is another run.
        return _start(actor, text, "")
    return launch.run.pk


def _form_key(key: str) -> str | None:
    """The key a form carries, so that a doubled click starts one run."""
    try:
        return f"form:{uuid.UUID(key)}"
    except ValueError:
        return None


def _form(request: HttpRequest, text: str, problems: tuple[SpecProblem, ...] = ()) -> HttpResponse:
    context: dict[str, Any] = {
        "place": "runs",
        "text": text,
        "problems": problems,
        "examples": examples(),
        "key": uuid.uuid4(),
        "max_kb": MAX_SPEC_BYTES // 1000,
    }
    status = UNPROCESSABLE if problems else 200
    return render(request, "runs/new.html", context, status=status)


def examples(root: Path = EXAMPLES) -> list[Example]:
    """The example specs that came with the product, in order of name."""
    files = sorted((*root.glob("*.yaml"), *root.glob("*/spec.yaml")))
    return [example for path in files if _IS_SPEC.search((example := _example(path)).text)]


def _example(path: Path) -> Example:
    text = path.read_text(encoding="utf-8")
    name = path.parent.name if path.stem == "spec" else path.stem
    if not _IS_SPEC.search(text):
        return Example(name, "", "", text)
    spec = load_spec_text(text)
    return Example(name, spec.goal.strip(), _needs(spec), text)


def _needs(spec: RunSpec) -> str:
    """What has to be on this machine for the run: programs, and a key unless models are played."""
    workers = [branch.worker for branch in spec.branches]
    programs = {_program(one.argv) for one in workers if isinstance(one, CommandWorker)}
    models = [spec.model, *(one.model for one in workers if isinstance(one, ModelWorker))]
    names = [one if isinstance(one, str) else one.name for one in models if one is not None]
    parts = [f"{len(workers)} branch{'es' * (len(workers) != 1)}"] if workers else []
    if names and all(name.startswith(_RECORDED) for name in names):
        parts.append("a recorded model, no key needed")
    if programs:
        parts.append(f"runs {' and '.join(sorted(programs))}, to be installed")
    return " · ".join(parts)


def _program(argv: Sequence[str]) -> str:
    """What has to be there: the program, or the module that Python runs."""
    is_module = len(argv) > 2 and argv[1] == "-m"
    return " ".join(argv[:3] if is_module else argv[:1])


def _offered(name: str) -> str:
    return next((one.text for one in examples() if one.name == name), "")
