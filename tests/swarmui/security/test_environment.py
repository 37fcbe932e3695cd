"""A variable that is wrong stops the start, by its name, without telling what it holds."""

import pytest
from pydantic import ValidationError

from swarmui.environment import Environment


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://u:secret@host/name"),
        ("DATABASE_URL", "postgres://u:secret@host:99999/name"),
        ("REDIS_URL", "localhost:6379"),
        ("LOG_LEVEL", "loud"),
        ("SWARMUI_ENV", "prod"),
        ("SWARMUI_LEASE_S", "0"),
        ("SECRET_KEY", "short"),
    ],
)
def test_a_wrong_value_is_refused_by_name(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError) as error:
        Environment()
    [problem] = error.value.errors(include_input=False, include_url=False)
    assert problem["loc"][0] == name.lower()
    assert "secret" not in problem["msg"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgresql://user:p%40ss@host:5432/name"),
        ("DATABASE_URL", "sqlite:////tmp/x.sqlite3"),
        ("REDIS_URL", "rediss://host:6380/1"),
    ],
)
def test_a_right_one_is_taken(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert getattr(Environment(), name.lower()) == value


def test_an_empty_variable_counts_as_not_set(monkeypatch):
    monkeypatch.setenv("REDIS_URL", "")
    assert Environment().redis_url is None
