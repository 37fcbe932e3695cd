"""A production installation to measure, with this process's Django on the same database."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support import finding, postgres, redis_server
from tests.support.installation import Installation, production_installation


@contextmanager
def production(
    *, workers: int, concurrency: int = 2, sweeps: bool = True
) -> Iterator[Installation]:
    """Web, workers and, if it sweeps, beat, on a fresh PostgreSQL database and Redis database."""
    home = finding.scratch_folder("bench")
    database_url, redis_url = postgres.create_database(), redis_server.claim_database()
    try:
        with production_installation(
            home,
            database_url,
            redis_url,
            workers=workers,
            concurrency=concurrency,
            sweeps=sweeps,
        ) as installation:
            _point_django_at(installation)
            yield installation
    finally:
        from django.db import connections

        connections.close_all()
        redis_server.release_database(redis_url)
        postgres.drop_database(database_url)
        shutil.rmtree(home, ignore_errors=True)


def _point_django_at(installation: Installation) -> None:
    os.environ.update(installation.env)
    os.environ["DJANGO_SETTINGS_MODULE"] = "swarmui.settings"
    import django

    django.setup()
