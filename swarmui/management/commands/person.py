"""`swarmui person add NAME --role ROLE`: one more person, and the link that lets them in."""

from argparse import ArgumentParser
from typing import Any

from swarmui.management.links import link_line
from swarmui.management.product_command import ProductCommand, UsageError
from swarmui.models import Role
from swarmui.services.people import add_person
from swarmui.services.sign_in import MAX_LINK_LIFETIME


class Command(ProductCommand):
    help = (
        "Add a person; a one-time sign-in link to hand over is the last word of the output. "
        "`swarmui sign_in_link NAME` makes another one, `swarmui changepassword NAME` a password."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="add")
        add = actions.add_parser("add", help="add a person")
        add.add_argument("name", help="the username")
        add.add_argument(
            "--role",
            required=True,
            choices=[role.value for role in Role],
            help="viewers look, operators start runs, reviewers decide, admins rule",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            person = add_person(options["name"], Role(options["role"]))
        except ValueError as error:
            raise UsageError(str(error)) from error
        self.stdout.write(f"{person.get_username()!r} is a new {options['role']}.")
        self.stdout.write(link_line(person, MAX_LINK_LIFETIME))
