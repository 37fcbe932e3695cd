"""What the import contracts in pyproject.toml cannot say about the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sources import ROOT, calls, imports, name_of, python_files, tree_of

PRODUCT = ("verifier", "swarmui")
EVERYTHING = (*PRODUCT, "tests", "bench")

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

#: Longer ones owe a reason: {"path": "why"} and {"path::function": "why"}.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}

#: Modules that write rows of nodes, and so their status.
STATUS_WRITER = "swarmui/services/nodes.py"
#: Rows of an invented run, written with their ledger.
INVENTED_ROWS = {
    "swarmui/management/seeding/store.py",
    "swarmui/management/seeding/change.py",
}


# --- one writer of a node's status ---


def _status_writes(path: Path) -> list[int]:
    """Lines that set `.status` where models are at hand, or `status=` in an update of nodes."""
    knows_models = any(name.startswith("swarmui.models") for name, _ in imports(tree_of(path)))
    lines = [
        target.lineno
        for node in ast.walk(tree_of(path))
        if knows_models and isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute) and target.attr == "status"
    ]
    for call, callee in calls(tree_of(path)):
        writes = re.search(r"(^|\.)(update|bulk_update|create|update_or_create|Node)$", callee)
        about_nodes = "Node" in callee or "nodes" in callee or "branches" in callee
        named = {keyword.arg for keyword in call.keywords}
        text = {
            constant.value
            for argument in call.args
            for constant in ast.walk(argument)
            if isinstance(constant, ast.Constant)
        }
        if writes and about_nodes and ("status" in named or "status" in text):
            lines.append(call.lineno)
    return lines


def test_only_transition_node_writes_a_nodes_status() -> None:
    offenders = {
        f"{name_of(path)}:{line}"
        for path in python_files("swarmui")
        if name_of(path) not in {STATUS_WRITER, *INVENTED_ROWS}
        if "selectors" not in path.parts  # they may picture an earlier state, and save nothing
        for line in _status_writes(path)
    }
    assert offenders == set()


SAVING = re.compile(
    r"\.(save|delete|update|create|bulk_create|bulk_update|get_or_create|update_or_create)$"
)


def test_selectors_save_nothing() -> None:
    offenders = [
        f"{name_of(path)}:{call.lineno} {callee}"
        for path in python_files("swarmui/selectors")
        for call, callee in calls(tree_of(path))
        if SAVING.search(callee) and ("objects" in callee or callee.endswith((".save", ".delete")))
    ]
    assert offenders == []


def test_the_check_for_status_writers_sees_the_one_writer_there_is() -> None:
    assert _status_writes(ROOT / STATUS_WRITER)


@pytest.mark.parametrize(
    "code",
    [
        "from swarmui.models import Node; node.status = 'ok'",
        "Node.objects.filter(pk=1).update(status='ok')",
        "run.nodes.update(status='ok')",
        "Node.objects.bulk_update(rows, ['status'])",
        "Node(status='ok')",
    ],
)
def test_each_way_to_write_a_status_is_seen(code: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(code)
    assert _status_writes(path) == [1]


# --- sizes ---


def test_no_file_is_longer_than_it_may_be() -> None:
    long = {
        name_of(path): lines
        for path in python_files(*EVERYTHING)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_FILE_LINES
        and name_of(path) not in LONG_FILES
    }
    assert long == {}


def test_no_function_is_longer_than_it_may_be() -> None:
    long = {}
    for path in python_files(*EVERYTHING):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                key = f"{name_of(path)}::{node.name}"
                if lines > MAX_FUNCTION_LINES and key not in LONG_FUNCTIONS:
                    long[key] = lines
    assert long == {}


def test_reasons_are_given_only_for_what_is_long() -> None:
    assert [name for name in LONG_FILES if not (ROOT / name).exists()] == []
    assert [name for name in LONG_FUNCTIONS if not (ROOT / name.split("::")[0]).exists()] == []


# --- foreign text stays text ---


def test_no_template_marks_text_as_safe() -> None:
    pattern = re.compile(r"\|\s*safe(seq)?\b|{%\s*autoescape\s+off")
    offenders = [
        f"{name_of(path)}:{number}"
        for path in sorted((ROOT / "templates").rglob("*"))
        if path.is_file()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert offenders == []


def test_no_code_marks_text_as_safe() -> None:
    offenders = [
        f"{name_of(path)}:{node.lineno}"
        for path in python_files("swarmui")
        for node in ast.walk(tree_of(path))
        if (isinstance(node, ast.Name) and node.id in {"mark_safe", "SafeString"})
        or (isinstance(node, ast.Attribute) and node.attr in {"mark_safe", "SafeString"})
        or (
            isinstance(node, ast.FunctionDef)
            and any("is_safe" in ast.unparse(decorator) for decorator in node.decorator_list)
        )
    ]
    assert offenders == []


# --- work is started by name, joined in SQL ---

CANVAS = {"chord", "group", "chain", "AsyncResult", "ResultSet", "GroupResult"}


def test_no_work_is_joined_by_celery() -> None:
    offenders = []
    for path in python_files("swarmui"):
        offenders += [
            f"{name_of(path)}:{line} {name}"
            for name, line in imports(tree_of(path))
            if name.startswith("celery.") and name.split(".")[-1] in CANVAS
        ]
        offenders += [
            f"{name_of(path)}:{call.lineno} {callee}"
            for call, callee in calls(tree_of(path))
            if re.search(r"(delay|apply_async|send_task)\(\)\.(get|wait|join)$", callee)
            or callee.split(".")[-1] in {"chord", "delay", "apply_async"}
        ]
    assert offenders == []


def test_every_dispatched_name_is_a_task() -> None:
    from swarmui.celery import app
    from swarmui.dispatch import TASK_NAMES

    app.loader.import_default_modules()
    assert [name for name in TASK_NAMES if f"swarmui.{name}" not in app.tasks] == []


def test_every_call_of_dispatch_names_a_task() -> None:
    from swarmui.dispatch import TASK_NAMES

    names = {
        (name_of(path), ast.unparse(call.args[0]))
        for path in python_files("swarmui")
        for call, callee in calls(tree_of(path))
        if callee in {"dispatch", "dispatch.dispatch"} and call.args
    }
    assert names
    assert [name for name in names if ast.literal_eval(name[1]) not in TASK_NAMES] == []


def test_tasks_are_thin() -> None:
    """Ids in, one call: a task of more lines decides something, and that belongs elsewhere."""
    thick = {
        f"{name_of(path)}::{node.name}": node.end_lineno - node.lineno + 1
        for path in python_files("swarmui/tasks")
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > 15
    }
    assert thick == {}


# --- what is loaded, and what touches the database ---


@pytest.mark.timeout(60)
def test_the_web_process_does_not_load_the_model_gateway(tmp_path: Path) -> None:
    """pydantic-ai takes seconds to import; only the process that calls a model may pay that."""
    program = (
        "import sys, swarmui.asgi, swarmui.urls\n"
        "print([name for name in sys.modules if name.split('.')[0] in "
        "('pydantic_ai', 'openai', 'anthropic', 'google')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"SWARMUI_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "swarmui.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


#: The one helper through which sockets read the database, once per tick for all viewers.
SOCKETS_READ_IN = "swarmui/live/reading.py"


def test_sockets_touch_the_database_in_one_place() -> None:
    forbidden = ("swarmui.models", "swarmui.selectors", "swarmui.services", "django.db")
    offenders = [
        f"{name_of(path)}:{line} {name}"
        for path in python_files("swarmui/live")
        if name_of(path) != SOCKETS_READ_IN
        for name, line in imports(tree_of(path))
        if name.startswith(forbidden)
    ]
    assert offenders == []


def test_views_ask_no_manager() -> None:
    """Reading is in selectors, where permission is part of the query."""
    offenders = [
        f"{name_of(path)}:{node.lineno}"
        for path in python_files("swarmui/views", "swarmui/api")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr == "objects"
    ]
    assert offenders == []


def test_no_signal_handler_is_part_of_the_flow() -> None:
    offenders = [
        f"{name_of(path)}:{line} {name}"
        for path in python_files("swarmui")
        for name, line in imports(tree_of(path))
        if name.startswith(("django.dispatch", "django.db.models.signals"))
    ]
    assert offenders == []


# --- the tests themselves ---


def test_no_test_sleeps() -> None:
    """`tests/waiting.py` waits for a state, with an end. On an event loop a poll may yield, and
    a stand-in may hang."""
    offenders = []
    for path in python_files("tests"):
        allowed = {
            id(node)
            for around in ast.walk(tree_of(path))
            if isinstance(around, ast.While | ast.Lambda)
            for node in ast.walk(around)
        }
        offenders += [
            f"{name_of(path)}:{call.lineno}"
            for call, callee in calls(tree_of(path))
            if callee in {"time.sleep", "sleep"}
            or (callee == "asyncio.sleep" and id(call) not in allowed and _waits(call))
        ]
    assert offenders == []


def _waits(call: ast.Call) -> bool:
    """`asyncio.sleep(0)` yields to the loop and waits for nothing."""
    return not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)


def test_tests_of_the_rules_need_no_framework() -> None:
    offenders = [
        f"{name_of(path)}:{line} {name}"
        for path in python_files("tests/verifier")
        for name, line in imports(tree_of(path))
        if name.split(".")[0] in {"django", "swarmui", "celery", "channels", "redis", "psycopg"}
    ]
    assert offenders == []


# --- what the files may not name ---


INDEX = r"(?:index-url|find-links|registry)[=\s\"']+https?:"  # an address packages come from
ONE_MACHINE = r"(?<![\w/])/(?:root|home/\w+|Users/\w+|work|farm)/[\w.-]+"


def test_no_file_names_an_index_of_packages_or_a_path_of_one_machine() -> None:
    pattern = re.compile(f"{INDEX}|{ONE_MACHINE}")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.splitlines()  # fmt: skip
    offenders = []
    for name in listed:
        path = ROOT / name
        if path.suffix in {".png", ".ico", ".woff2"}:
            continue
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            offenders += [f"{name}: {found}" for found in set(pattern.findall(text))]
    assert offenders == []
