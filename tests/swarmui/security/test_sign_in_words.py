"""What the sign-in page says of a name and a password that do not fit."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

WORDS = "No account has this name and this password."


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize("name", ["ada", "nobody"])  # it does not tell which names exist
def test_a_wrong_password_is_told_in_the_products_words(name: str) -> None:
    cache.clear()
    User.objects.create_user("ada", password="a long enough secret")
    answer = Client().post("/sign-in/", {"username": name, "password": "wrong"})
    assert answer.status_code == 422
    assert WORDS in answer.content.decode()
    assert "username and password. Note" not in answer.content.decode()
