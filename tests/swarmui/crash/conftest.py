"""One production set for all tests of this folder: starting it takes longer than breaking it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support import finding, postgres, redis_server

if TYPE_CHECKING:
    from tests.swarmui.crash.ground import Ground


@pytest.fixture(scope="package")
def _ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    from tests.support.installation import production_installation
    from tests.swarmui.crash.ground import LEASE_S, Ground

    try:
        redis_url = redis_server.claim_database()
        database_url = postgres.create_database()
    except finding.Missing as reason:
        finding.unavailable("PostgreSQL or Redis", str(reason))
    home = tmp_path_factory.mktemp("crash") / "production"
    environment = {"SWARMUI_LEASE_S": str(LEASE_S), "SWARMUI_RECORDED_DELAY_SCALE": "1"}
    try:
        with production_installation(
            home, database_url, redis_url, workers=2, concurrency=4, **environment
        ) as installation:
            for role in ("operator", "viewer"):
                installation.token(role)
            yield Ground(installation, database_url, redis_url)
    finally:
        redis_server.release_database(redis_url)
        postgres.drop_database(database_url)


@pytest.fixture
def ground(_ground: Ground) -> Ground:
    """The set with all its programs running; whatever a test killed is started again."""
    installation = _ground.installation
    for program in [installation["server"], *installation.workers, installation["beat"]]:
        if not program.is_running:
            program.start()
    installation.wait_ready()
    return _ground
