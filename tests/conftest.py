"""The ground every test stands on.

* `TEST_DATABASE_URL` and `TEST_REDIS_URL` name servers; without them the standard ports of this
  machine are tried, then real servers are started from wheels. `TEST_DATABASE_URL=sqlite:` runs
  the database tests on SQLite, as the embedded default does.
* What cannot be got fails the tests that need it, or skips them with `ALLOW_MISSING=1`.
* Every run has a database, a Redis database and a home folder of its own.
* `tests/verifier/` needs none of this, and does not even load Django.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from tests.support import chromium, finding, postgres, redis_server

if TYPE_CHECKING:
    from tests.support.installation import Installation

TESTS = Path(__file__).parent
ON_SQLITE = os.environ.get("TEST_DATABASE_URL", "").startswith("sqlite")

KINDS = ("embedded", "production")

pytest_plugins = ["tests.support.browser"]

# Two busy cores: a slow example is no finding, and a failure must come back on the next run.
hypothesis_settings.register_profile(
    "suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    if _asks_only_for_rules(config):
        return
    home = finding.scratch_folder("home")
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    _point_django_at(home)
    import django
    from django.conf import settings

    django.setup()
    # Pages rendered inside this process need no build; browser tests run against a real one.
    settings.STATIC_ROOT.mkdir()
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


def _asks_only_for_rules(config: pytest.Config) -> bool:
    places = [Path(argument.split("::")[0]).resolve() for argument in config.args]
    return all(place.is_relative_to(TESTS / "verifier") for place in places)


def _point_django_at(home: Path) -> None:
    """Set the environment before settings are read: nothing of the caller's own is touched.

    The PostgreSQL server is looked for when the first test needs it: see
    `django_db_modify_db_settings`. Inside this process the embedded channel layer and broker
    are used; tests with Redis ask for `redis_url` or an installation.
    """
    own = ("REDIS_URL", "SECRET_KEY", "ALLOWED_HOSTS", "TRUSTED_ORIGINS", "LOG_LEVEL")
    for name in [name for name in os.environ if name in own or name.startswith("SWARMUI_")]:
        del os.environ[name]
    os.environ["DJANGO_SETTINGS_MODULE"] = "swarmui.settings"
    os.environ["SWARMUI_HOME"] = str(home)
    os.environ["SWARMUI_RECORDED_DELAY_SCALE"] = "0"
    os.environ["DATABASE_URL"] = (
        f"sqlite:///{home}/tests.sqlite3" if ON_SQLITE else "postgresql://postgres@127.0.0.1/none"
    )


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """Point the default connection at the server found, with a test database of this run's own."""
    import dj_database_url
    from django.db import connections

    connection = connections["default"]
    if ON_SQLITE:
        connection.settings_dict["TEST"]["NAME"] = f"{os.environ['SWARMUI_HOME']}/tests.sqlite3"
        return
    found = dj_database_url.parse(postgresql_url())
    for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT"):
        connection.settings_dict[key] = found[key]
    connection.settings_dict["TEST"]["NAME"] = postgres.database_name()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """After migrations: let the flush between transactional tests empty the ledger too."""
    from tests.support.flushing import flush_may_empty_the_ledger

    with flush_may_empty_the_ledger():
        yield


def postgresql_url() -> str:
    """URL of a PostgreSQL server, or the end of the test that asked."""
    return finding.got("PostgreSQL", postgres.server_url)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests by what they need; on SQLite, skips what only PostgreSQL can show.

    Tests in a browser come last: Playwright keeps an event loop in this thread, and tests that
    run one of their own cannot follow.
    """
    items.sort(key=lambda item: "chromium_path" in getattr(item, "fixturenames", ()))
    skip = pytest.mark.skip(reason="needs PostgreSQL; this run is on SQLite")
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if {"embedded", "production"} & fixtures:
            item.add_marker(pytest.mark.installation)
        if {"db", "transactional_db"} & fixtures or item.get_closest_marker("django_db"):
            item.add_marker(pytest.mark.database)
        if ON_SQLITE and item.get_closest_marker("postgresql"):
            item.add_marker(skip)


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A fresh, empty PostgreSQL database."""
    postgresql_url()
    url = postgres.create_database()
    yield url
    postgres.drop_database(url)


@pytest.fixture
def redis_url() -> Iterator[str]:
    """An empty numbered Redis database that is this test's alone."""
    url = finding.got("Redis", redis_server.claim_database)
    yield url
    redis_server.release_database(url)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Path of a Chromium."""
    return finding.got("Chromium", chromium.executable)


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Installation]:
    """A running `swarmui up`: SQLite, in-process worker, no broker."""
    from tests.support.installation import embedded_installation

    with embedded_installation(tmp_path / "embedded") as installation:
        yield installation


@pytest.fixture
def production(tmp_path: Path, postgres_url: str, redis_url: str) -> Iterator[Installation]:
    """A running production set: web, worker and beat processes on PostgreSQL and Redis."""
    from tests.support.installation import production_installation

    with production_installation(tmp_path / "production", postgres_url, redis_url) as installation:
        yield installation


@pytest.fixture(params=[pytest.param(kind, marks=pytest.mark.installation) for kind in KINDS])
def installation(request: pytest.FixtureRequest) -> Any:
    """The same test twice: on the embedded default, and on the production set."""
    return request.getfixturevalue(request.param)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, reason in finding.missing.items():
        terminalreporter.write_line(f"missing: {name}: {reason}", yellow=True)
