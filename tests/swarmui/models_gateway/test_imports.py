"""The model library takes seconds to import: only an attempt that needs it may pay for it."""

import subprocess
import sys

PROBE = """
import sys
import swarmui.adapters.models.agent, swarmui.adapters.models.names
import swarmui.adapters.models.recorded
heavy = {"pydantic_ai", "openai", "anthropic", "google.genai", "django"} & set(sys.modules)
print(sorted(heavy))
"""


def test_the_front_door_loads_no_model_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
