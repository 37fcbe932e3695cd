"""The web process: pages and API over HTTP, the live tree over sockets."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "swarmui.settings")
os.environ.setdefault("SWARMUI_PROCESS", "web")

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

http_application = get_asgi_application()

from swarmui.live.routing import websocket_application  # noqa: E402  (needs the app registry)

application = ProtocolTypeRouter({"http": http_application, "websocket": websocket_application()})
