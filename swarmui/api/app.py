"""The API: its operations, who may call them, and the document that describes them."""

from importlib.metadata import version
from typing import Any

from ninja import NinjaAPI

from swarmui.api import nodes, runs, spec_schema
from swarmui.api.auth import AUTH
from swarmui.api.problems import CONTENT_TYPE, register_handlers


class Api(NinjaAPI):
    """NinjaAPI, with its errors documented in the media type they have."""

    def get_openapi_schema(self, **kwargs: Any) -> Any:
        document = super().get_openapi_schema(**kwargs)
        for path in document["paths"].values():
            for operation in path.values():
                for status, answer in operation["responses"].items():
                    if int(status) >= 400 and "application/json" in answer.get("content", {}):
                        answer["content"] = {CONTENT_TYPE: answer["content"]["application/json"]}
        return document


api = Api(
    title="SwarmUI",
    version=version("swarmui"),
    description=(
        "Start swarms and read what they did. Send `Authorization: Bearer sd_…`, or the session "
        "cookie of a signed-in person (changes then need `X-CSRFToken`). Every error is "
        "problem+json with `type`, `title`, `status`, `detail` and `errors[]`. Parameters that an "
        "operation does not know are refused, never ignored."
    ),
    urls_namespace="api",
    docs_url=None,  # the viewer that comes with it loads scripts from elsewhere
    auth=AUTH,
)
register_handlers(api)
api.add_router("", runs.router)
api.add_router("", nodes.router)
api.add_router("", spec_schema.router)
