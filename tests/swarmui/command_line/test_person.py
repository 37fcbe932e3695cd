"""People are added at the console, and get in by link."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client, override_settings

from swarmui.management.product_command import UsageError
from swarmui.models import Role
from swarmui.services.roles import role_of

pytestmark = pytest.mark.usefixtures("db")


def said(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def path_in(text: str) -> str:
    return text.split()[-1]


@pytest.mark.parametrize("role", list(Role))
def test_a_person_who_was_added_gets_in_with_that_role(role: Role) -> None:
    link = path_in(said("person", "add", "ann", "--role", role))
    client = Client()
    assert client.post(link).status_code == 302
    assert client.get("/runs/").status_code == 200
    ann = User.objects.get(username="ann")
    assert (role_of(ann), ann.has_usable_password()) == (role, False)


@pytest.mark.parametrize("name", ["", "two words", "x" * 151, "a/b"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        said("person", "add", name, "--role", "viewer")
    assert not User.objects.filter(username=name).exists()


def test_a_name_that_is_taken_keeps_its_role() -> None:
    said("person", "add", "ann", "--role", "viewer")
    with pytest.raises(UsageError, match="already"):
        said("person", "add", "ann", "--role", "admin")
    assert role_of(User.objects.get(username="ann")) == Role.VIEWER


def test_a_link_can_be_made_for_a_person_by_name() -> None:
    said("person", "add", "ann", "--role", "viewer")
    client = Client()
    client.post(path_in(said("sign_in_link", "ann")))
    assert client.session["_auth_user_id"] == str(User.objects.get(username="ann").pk)


def test_no_link_is_made_for_nobody() -> None:
    User.objects.create_user("gone", is_active=False)
    for name in ("bob", "gone"):
        with pytest.raises(UsageError, match=f"no person called '{name}'"):
            said("sign_in_link", name)


def test_a_link_says_where_it_is_opened() -> None:
    assert "at the server's address followed by /sign-in/link/" in said("sign_in_link")
    with override_settings(TRUSTED_ORIGINS=("https://swarm.example.com",)):
        assert path_in(said("sign_in_link")).startswith("https://swarm.example.com/sign-in/link/")
