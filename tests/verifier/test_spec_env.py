"""Which environment variables a program may be handed."""

import pytest

from verifier.spec import SpecError, parse_run_spec


def spec_with(name):
    worker = {"kind": "command", "argv": ["agent"], "isolation": "host", "env": [name]}
    return {"goal": "g", "branches": [{"role": "r", "task_brief": "t", "worker": worker}]}


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HTTPS_PROXY", "MY_SECRET_KEY", "_X1"])
def test_an_operators_own_variables_may_be_named(name):
    assert parse_run_spec(spec_with(name)).branches[0].worker.env == (name,)


@pytest.mark.parametrize(
    "name",
    [
        "DATABASE_URL",
        "REDIS_URL",
        "SECRET_KEY",
        "PGPASSWORD",
        "SWARMUI_HOME",
        "DJANGO_X",
        "CELERY_Y",
    ],
)
def test_the_services_own_keys_never_leave_by_a_workers_output(name):
    with pytest.raises(SpecError) as error:
        parse_run_spec(spec_with(name))
    [problem] = error.value.problems
    assert problem.path == "branches[0].worker.env[0]"
    assert "belongs to the service" in problem.message
