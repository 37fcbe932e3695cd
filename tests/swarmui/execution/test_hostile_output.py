"""Whatever a program prints: the node ends, the event is written, what is stored is inert."""

from pathlib import Path

import pytest

from swarmui.models import Node
from swarmui.selectors.documents import node_document, run_document
from swarmui.selectors.ledger import check_run
from verifier.limits import OUTPUT_CHARS


def printing(expression):
    code = f"import sys; sys.stdout.buffer.write({expression})"
    return {
        "role": "tool",
        "task_brief": "Say it",
        "worker": {"kind": "command", "argv": ["python3", "-c", code]},
    }


@pytest.mark.parametrize(
    ("expression", "status", "holds"),
    [
        ("b'a\\0b'", "ok", "a"),  # NUL: no database column holds it
        ("b'\\xed\\xa0\\x80'", "ok", ""),  # a lone surrogate, as bytes
        ("b'\\xff\\xfe\\x00'", "ok", ""),  # no UTF-8 at all
        ("b'<script>alert(1)</script>'", "ok", "<script>alert(1)</script>"),  # text is text
        ("b'\\x1b[2J\\x1b]52;c;aGk=\\x07'", "ok", "\x1b"),  # kept; made visible where shown
        ("'\\u202eabc'.encode()", "ok", "\u202eabc"),
        ("b'x' * 2_000_000", "ok", "xxx"),  # longer than is stored
        ("b'[' * 100_000", "ok", "[[["),
        ("b'y' * 50_000_000", "tool_error", ""),  # more than a program may say
        ("b''", "ok", ""),
    ],
)
def test_hostile_output_is_stored_bounded_and_the_event_is_never_lost(
    launch, broker, expression, status, holds
):
    run = launch(branches=[printing(expression)])
    broker.serve_all()
    node = Node.objects.filter(run=run, depth=1).earliest("spawn_seq")
    assert node.status == status, node.reason
    attempt = node_document(node.pk)["attempts"][0]
    output = attempt["output"] or ""
    assert isinstance(output, str)
    assert holds in output
    assert "\0" not in output
    assert len(output) <= OUTPUT_CHARS
    output.encode()  # no lone surrogate is left
    assert run_document(run.pk)["status"] == status
    assert check_run(run.pk).faults == ()


def test_a_grandchild_that_left_its_session_is_ended_with_the_program(launch, broker, tmp_path):
    code = (
        "import subprocess, time; subprocess.Popen(['setsid', 'sleep', '987.25']); time.sleep(600)"
    )
    branch = {
        "role": "tool",
        "task_brief": "x",
        "limits": {"wall_clock_s": 2},
        "worker": {"kind": "command", "argv": ["python3", "-c", code]},
    }
    run = launch(branches=[branch])
    broker.serve_all()
    assert Node.objects.get(run=run, depth=1).status == "timeout"
    assert "987.25" not in _command_lines()


def _command_lines():
    lines = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(entry.read_bytes().decode("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(lines)


def test_a_program_that_makes_thousands_of_files_is_counted_and_a_few_are_named(launch, broker):
    code = "[open(f'file-{i:05}', 'w').close() for i in range(3000)]"
    worker = {"kind": "command", "argv": ["python3", "-c", code]}
    run = launch(branches=[{"role": "tool", "task_brief": "x", "worker": worker}])
    broker.serve_all()
    attempt = node_document(Node.objects.get(run=run, depth=1).pk)["attempts"][0]
    assert attempt["receipt"]["filesTouched"] == attempt["files_touched"] == 3000
    assert len(attempt["files_named"]) == 200
