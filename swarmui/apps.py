"""The one Django app: nodes, attempts, events and rounds share transactions."""

from django.apps import AppConfig


class SwarmuiConfig(AppConfig):
    """Registers models, tasks and system checks."""

    name = "swarmui"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import swarmui.celery  # noqa: PLC0415  (the app that tasks and dispatch share)
        import swarmui.checks  # noqa: F401, PLC0415  (system checks register themselves)
