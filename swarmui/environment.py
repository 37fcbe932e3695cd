"""The environment, parsed loudly: an unknown value stops the start and names the variable."""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Annotated, Literal

import dj_database_url
from pydantic import AfterValidator, Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from verifier.limits import LEASE_S


def _words(value: object) -> object:
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(
        value, str
    ) else value  # fmt: skip


def _database_address(url: str) -> str:
    if not url.startswith(("postgres://", "postgresql://", "sqlite:")):
        raise ValueError("expected postgresql://user:password@host:port/name, or sqlite:///file")
    try:
        dj_database_url.parse(url)
    except ValueError:  # its own words may quote the password
        raise ValueError("not a valid address; is every part of it percent-encoded?") from None
    return url


def _redis_address(url: str) -> str:
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("expected redis://host:port/number")
    return url


class Environment(BaseSettings):
    """What an operator may set. An empty variable counts as not set."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")

    swarmui_home: str = "var"
    swarmui_env: Literal["embedded", "production"] = "embedded"
    swarmui_process: Literal["web", "worker", "tool"] = "tool"
    swarmui_queue: str = Field("swarmui", pattern=r"^[a-z0-9_-]{1,40}$")
    swarmui_workspace_roots: Annotated[list[str], NoDecode] = []
    swarmui_allow_not_isolated: bool = False
    swarmui_recorded_delay_scale: float = Field(1.0, ge=0, le=10)
    swarmui_lease_s: float = Field(LEASE_S, ge=1, le=600)
    database_url: Annotated[str, AfterValidator(_database_address)] | None = None
    redis_url: Annotated[str, AfterValidator(_redis_address)] | None = None
    secret_key: str | None = Field(None, min_length=32)
    allowed_hosts: Annotated[list[str], NoDecode] = ["127.0.0.1", "localhost", "[::1]"]
    trusted_origins: Annotated[list[str], NoDecode] = []
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    _split = field_validator(
        "swarmui_workspace_roots", "allowed_hosts", "trusted_origins", mode="before"
    )(_words)


def secret_key_in(home: Path) -> str:
    """The install's own secret key, made on first use and readable by its owner alone."""
    path = home / "secret_key"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        # Complete or not there at all: of several first starts at once one wins, and one that is
        # killed here leaves no half of a key.
        new = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48))
        with contextlib.suppress(FileExistsError):
            os.link(new, path)
        new.unlink()
    return path.read_text().strip()
