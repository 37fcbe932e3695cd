"""`swarmui sign_in_link [NAME]`: a way in, from the install's own console."""

from argparse import ArgumentParser
from typing import Any

from swarmui.management.links import link_line
from swarmui.management.product_command import ProductCommand, UsageError
from swarmui.services.people import find_person


class Command(ProductCommand):
    help = "Print a one-time link that signs a person in, as the last word of the output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", help="a username; the admin if left out")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        try:
            person = None if name is None else find_person(name)
        except ValueError as error:
            raise UsageError(str(error)) from error
        self.stdout.write(link_line(person))
