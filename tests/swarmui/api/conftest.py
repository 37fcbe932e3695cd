"""Two callers, and a run to ask about. Imports wait until Django is set up."""

from typing import Any

import pytest


@pytest.fixture
def operator(db: None) -> Any:
    from swarmui.models import Role
    from tests.swarmui.api.callers import with_token

    return with_token(Role.OPERATOR)


@pytest.fixture
def viewer(db: None) -> Any:
    from swarmui.models import Role
    from tests.swarmui.api.callers import with_token

    return with_token(Role.VIEWER)


@pytest.fixture
def run(db: None) -> Any:
    from swarmui.services.runs import Order, start_run
    from tests.swarmui.api.callers import SPEC
    from verifier.spec import parse_run_spec

    return start_run(Order(spec=parse_run_spec(SPEC), origin="test")).run
