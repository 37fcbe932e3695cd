"""`swarmui grant_app_role NAME`: the database role that web and workers run as."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from swarmui.services.database_roles import grant_app_role


class Command(BaseCommand):
    help = "Lets a PostgreSQL role do everything but change or remove ledger rows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--password-env",
            metavar="VARIABLE",
            help="environment variable that holds the role's password",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if connection.vendor != "postgresql":
            raise CommandError("roles are PostgreSQL's; this install uses SQLite")
        variable = options["password_env"]
        password = os.environ.get(variable) if variable else None
        if variable and not password:
            raise CommandError(f"the environment variable {variable} is not set")
        grant_app_role(options["name"], password)
        self.stdout.write(f"{options['name']} may append to the ledger, and not change it")
