"""`swarmui token create NAME --role ROLE`: a service token, shown this once."""

from argparse import ArgumentParser
from typing import Any

from swarmui.management.product_command import ProductCommand, UsageError
from swarmui.models import Role
from swarmui.services.tokens import SERVICE_ROLES, issue_token


class Command(ProductCommand):
    help = "Make a service token; it is shown once, as the last word of the output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="create")
        create = actions.add_parser("create", help="make a token")
        create.add_argument("name", help="what the token is for, 1 to 80 characters")
        create.add_argument(
            "--role", required=True, choices=sorted(role.value for role in SERVICE_ROLES)
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            issued = issue_token(options["name"], Role(options["role"]))
        except ValueError as error:
            raise UsageError(str(error)) from error
        until = issued.token.expires_at.date().isoformat()
        self.stdout.write(
            f"token {options['name']!r} ({issued.token.role}, until {until}): {issued.key}"
        )
