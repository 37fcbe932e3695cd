"""`swarmui sign_in_link`: a way in for the admin of an install, from its own console."""

from typing import Any

from django.conf import settings

from swarmui.management.product_command import ProductCommand
from swarmui.services.sign_in import issue_link


class Command(ProductCommand):
    help = "Print a one-time link that signs the admin in, as the last word of the output."

    def handle(self, *args: Any, **options: Any) -> None:
        origin = settings.TRUSTED_ORIGINS[0] if settings.TRUSTED_ORIGINS else ""
        self.stdout.write(f"Once, within 15 minutes: {origin}{issue_link()}")
