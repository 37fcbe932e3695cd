"""The model library says nothing of its own on the terminal of a person who watches a run."""

import os
import subprocess
import sys

# A terminal, and none of the variables by which the library sees that it is being tested.
PROBE = """
import os, pty, sys
from swarmui.adapters.models import loop
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel
ours, theirs = pty.openpty()
os.dup2(theirs, 1)
os.dup2(theirs, 2)
sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
Agent(TestModel()).run_sync("hello")
print("end", flush=True)
said = b""
while b"end" not in said:
    said += os.read(ours, 65536)
os.write(int(sys.argv[1]), said)
"""


def test_no_banner_is_printed_before_the_first_run() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as said:
        subprocess.run(
            [sys.executable, "-c", PROBE, str(writing)],
            env={"PATH": os.environ["PATH"], "TERM": "xterm-256color"},
            pass_fds=[writing],
            capture_output=True,
            timeout=60,
            check=True,
        )
        os.close(writing)
        assert said.read().strip() == b"end"
