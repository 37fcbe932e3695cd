"""What describes production is true: its commands exist and its variables are known."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.sources import ROOT

#: Programs of the images of PostgreSQL and Redis, and of the shell.
FROM_IMAGES = {"redis-server", "redis-cli", "pg_isready", "sh"}
#: What the programs themselves read, beside the product's own settings.
READ_BY_OTHERS = {
    "REMAP_SIGTERM", "POSTGRES_DB", "POSTGRES_USER", "POSTGRES_PASSWORD", "APP_DB_PASSWORD",
    "HTTP_BIND", "WORKER_CONCURRENCY", "REPOSITORIES",
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY",
}  # fmt: skip

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def _commands() -> list[tuple[str, list[str]]]:
    """Every command of the compose file, shell lines split into their parts."""
    found: list[tuple[str, list[str]]] = []
    for name, service in COMPOSE["services"].items():
        lines = [service["command"]] if "command" in service else []
        test = service.get("healthcheck", {}).get("test")
        if test:
            lines.append(["sh", "-c", test[1]] if test[0] == "CMD-SHELL" else test[1:])
        for argv in lines:
            if argv[:2] == ["sh", "-c"]:
                parts = argv[2].replace("exec ", "").split("&&")
                found += [(name, shlex.split(part)) for part in parts]
            else:
                found.append((name, argv))
    return found


@pytest.mark.parametrize(("service", "argv"), _commands(), ids=lambda value: str(value)[:60])
def test_every_command_of_the_compose_file_exists(service: str, argv: list[str]) -> None:
    program = argv[0]
    if program in FROM_IMAGES:
        return
    beside_python = Path(sys.executable).parent / program
    assert beside_python.exists() or shutil.which(program), f"{service} starts {program}"


def test_every_swarmui_command_of_the_compose_file_exists() -> None:
    from django.core.management import get_commands

    named = [argv[1] for _, argv in _commands() if argv[0] == "swarmui"]
    assert named
    assert [name for name in named if name not in get_commands()] == []


def test_the_served_application_can_be_imported() -> None:
    import importlib

    targets = [
        word for _, argv in _commands() for word in argv if re.fullmatch(r"[\w.]+:\w+", word)
    ]
    targets += re.findall(r'"([\w.]+:\w+)"', DOCKERFILE)
    assert targets
    for target in set(targets):
        module, name = target.split(":")
        assert hasattr(importlib.import_module(module), name)


HELP = {"uvicorn": ["uvicorn"], "worker": ["celery", "worker"], "beat": ["celery", "beat"]}


@pytest.mark.parametrize("program", HELP)
def test_uvicorn_and_celery_take_the_options_they_are_given(program: str) -> None:
    said = subprocess.run(
        [sys.executable, "-m", *HELP[program], "--help"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    ).stdout  # fmt: skip
    known = set(re.findall(r"--[a-z-]+", said))
    for _, argv in _commands():
        if program in argv[:3] or argv[0] == program:
            given = {word.split("=")[0] for word in argv if word.startswith("--")} - {"--app"}
            assert given - known == set()


def test_every_variable_that_is_set_is_read_by_somebody() -> None:
    from swarmui.environment import Environment

    known = {name.upper() for name in Environment.model_fields} | READ_BY_OTHERS
    example = (ROOT / ".env.example").read_text()
    named = set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", example, re.MULTILINE))
    for service in COMPOSE["services"].values():
        named |= set(service.get("environment", {}))
    assert named - known == set()


def test_what_the_compose_file_asks_for_is_in_the_example() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    example = (ROOT / ".env.example").read_text()
    asked = set(re.findall(r"\$\{([A-Z_]+)", text))
    assert asked
    assert {name for name in asked if f"{name}=" not in example} == set()


@pytest.mark.parametrize(
    ("secret", "holders"),
    [
        ("POSTGRES_PASSWORD", {"migrate", "postgres"}),  # the owner of the tables
        ("ANTHROPIC_API_KEY", {"worker"}),
    ],
)
def test_a_secret_is_given_only_to_those_who_need_it(secret: str, holders: set[str]) -> None:
    services = COMPOSE["services"].items()
    assert {name for name, service in services if secret in str(service)} == holders


def test_every_long_running_service_is_restarted_and_redis_forgets_nothing() -> None:
    services = COMPOSE["services"]
    restarts = {name: service.get("restart") for name, service in services.items()}
    assert {name for name, policy in restarts.items() if policy != "unless-stopped"} == {"migrate"}
    assert {"--appendonly", "yes", "noeviction"} <= set(services["redis"]["command"])


def test_the_image_does_not_run_as_root() -> None:
    users = re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE)
    assert users
    assert "root" not in users
    assert DOCKERFILE.index("USER ") < DOCKERFILE.index("CMD ")


def test_what_the_image_copies_exists() -> None:
    sources = [
        word
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for word in line.split()[:-1]
    ]
    assert [name for name in sources if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("lock", sorted(ROOT.glob("requirements*.lock")), ids=lambda p: p.name)
def test_lock_files_pin_with_hashes_and_name_no_place_to_get_them(lock: Path) -> None:
    text = lock.read_text()
    pinned = re.findall(r"^([a-z0-9._\[\],-]+)==", text, re.MULTILINE | re.IGNORECASE)
    assert pinned
    assert "://" not in text
    assert "index-url" not in text
    blocks = re.split(r"^(?=[a-zA-Z0-9])", text, flags=re.MULTILINE)
    without = [block.split("==")[0] for block in blocks if "==" in block and "--hash=" not in block]
    assert without == []
