"""What the environment makes of the settings: https on, one counter for all processes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ASKED = """
import json
from django.conf import settings as s
names = %r
print(json.dumps({name: getattr(s, name) for name in names}))
"""
NAMES = [
    "DEBUG", "SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "SESSION_COOKIE_SECURE",
    "CSRF_COOKIE_SECURE", "SESSION_COOKIE_HTTPONLY", "SESSION_COOKIE_SAMESITE",
    "CSRF_COOKIE_SAMESITE", "SECURE_HSTS_SECONDS", "CACHES", "SECRET_KEY_IS_GIVEN",
]  # fmt: skip


def _settings(home: Path, **environment: str) -> dict[str, Any]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    run = subprocess.run(
        [sys.executable, "-c", ASKED % NAMES],
        env={
            **kept,
            "SWARMUI_HOME": str(home),
            "DJANGO_SETTINGS_MODULE": "swarmui.settings",
            **environment,
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return dict(json.loads(run.stdout))


def test_on_this_machine_cookies_work_over_plain_http(tmp_path: Path) -> None:
    found = _settings(tmp_path)
    assert not found["DEBUG"]
    assert found["SESSION_COOKIE_NAME"] == "swarmui_session"
    assert not found["SESSION_COOKIE_SECURE"]
    assert found["SESSION_COOKIE_HTTPONLY"]
    assert found["SESSION_COOKIE_SAMESITE"] == found["CSRF_COOKIE_SAMESITE"] == "Lax"
    assert found["SECURE_HSTS_SECONDS"] == 0


@pytest.mark.parametrize(
    ("origins", "secure"),
    [
        ("https://swarm.example", True),
        ("https://swarm.example,https://swarm.example:8443", True),
        ("http://swarm.example", False),
        ("https://swarm.example,http://swarm.example", False),  # one way in is plain
    ],
)
def test_behind_https_cookies_never_leave_it(tmp_path: Path, origins: str, secure: bool) -> None:
    found = _settings(tmp_path, TRUSTED_ORIGINS=origins)
    assert found["SESSION_COOKIE_SECURE"] is secure
    assert found["CSRF_COOKIE_SECURE"] is secure
    assert found["SESSION_COOKIE_NAME"].startswith("__Host-") is secure
    assert found["CSRF_COOKIE_NAME"].startswith("__Host-") is secure
    assert (found["SECURE_HSTS_SECONDS"] > 0) is secure


def test_web_processes_count_sign_in_attempts_together(tmp_path: Path) -> None:
    found = _settings(tmp_path, REDIS_URL="redis://127.0.0.1:1/0")
    assert found["CACHES"]["default"]["BACKEND"].endswith("RedisCache")
