"""The channel layer settings of production, read from the settings file itself."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from typing import Any

PRINT = "import json, swarmui.settings as s; print(json.dumps(s.CHANNEL_LAYERS))"


@functools.cache
def channel_layers_for(redis_url: str) -> dict[str, Any]:
    """``CHANNEL_LAYERS`` as a process with this ``REDIS_URL`` has them."""
    environment = {**os.environ, "REDIS_URL": redis_url}
    printed = subprocess.run(
        [sys.executable, "-c", PRINT], env=environment, capture_output=True, text=True, check=True
    )
    layers: dict[str, Any] = json.loads(printed.stdout)
    return layers
