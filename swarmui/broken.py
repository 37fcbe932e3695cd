"""The page for a request that failed: our fault, or a database that is away for a moment."""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.views.defaults import server_error

from swarmui.api.problems import RETRY_AFTER_S
from swarmui.services.outages import renew_connections


def broken(request: HttpRequest) -> HttpResponse:
    """500, or 503 and when to ask again."""
    answer = server_error(request)
    fault = sys.exc_info()[1]
    if isinstance(fault, OperationalError | InterfaceError):
        renew_connections(fault)
        answer.status_code = 503
        answer["Retry-After"] = str(RETRY_AFTER_S)
    return answer
