"""The page on which a run is written and started. What was typed is never lost."""

import hashlib
import re
import uuid
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
from verifier.spec import SpecError, SpecProblem, load_spec_text

EXAMPLES = settings.BASE_DIR / "examples"
UNPROCESSABLE = 422
_IS_SPEC = re.compile(r"^goal:", re.MULTILINE)  # recordings lie beside them


@dataclass(frozen=True)
class Example:
    """A spec that is offered as a start."""

    name: str
    about: str
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
    lines = text.splitlines()
    comment = [line.lstrip("# ") for line in _leading_comment(lines)]
    name = path.parent.name if path.stem == "spec" else path.stem
    return Example(name, " ".join(comment), text)


def _leading_comment(lines: list[str]) -> list[str]:
    end = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return lines[:end]


def _offered(name: str) -> str:
    return next((one.text for one in examples() if one.name == name), "")
