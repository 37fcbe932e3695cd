"""The yardstick: the same command as a bare Celery task, under the same worker settings."""

import os
import subprocess
import tempfile
from pathlib import Path

import redis
from celery import Celery

from swarmui.adapters.sandbox import Isolation, run_argv

COMMAND = ("/bin/true",)
DONE_KEY = "bench:done"

app = Celery("bench", broker=os.environ.get("REDIS_URL", "memory://"))
app.conf.update(
    task_default_queue="bench-bare",
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    task_serializer="json",
    accept_content=["json"],
    broker_connection_retry_on_startup=True,
)
_client: "redis.Redis | None" = None


def counter() -> "redis.Redis":
    """One client per process: what is measured is the task, not its connections."""
    global _client  # noqa: PLW0603
    if _client is None:
        _client = redis.Redis.from_url(os.environ["REDIS_URL"])
    return _client


@app.task(name="bench.command")
def command(isolation: str) -> None:
    """Runs the command and counts it."""
    if isolation == "sandbox":
        with tempfile.TemporaryDirectory() as folder:
            run_argv(COMMAND, workdir=Path(folder), timeout_s=60, isolation=Isolation.SANDBOX)
    else:
        subprocess.run(COMMAND, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    counter().incr(DONE_KEY)
