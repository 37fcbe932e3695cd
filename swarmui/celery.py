"""The Celery app. Settings stand in `swarmui.settings` under `CELERY_`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "swarmui.settings")

app = Celery("swarmui", set_as_current=True)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["swarmui"])
