"""The JSON Schema of a run spec, for editors and for those who write specs by program."""

from django.http import HttpRequest, HttpResponse
from ninja import Router

from swarmui.api.answers import json_answer
from verifier.spec import run_spec_schema

router = Router(tags=["schemas"])


@router.get(
    "/schemas/run-spec.json",
    auth=None,
    response={200: dict},
    summary="JSON Schema of a run spec",
    operation_id="get_run_spec_schema",
)
def get_run_spec_schema(request: HttpRequest) -> HttpResponse:
    """What `POST runs` takes. Open to all: it holds nothing of this installation."""
    return json_answer(run_spec_schema())
