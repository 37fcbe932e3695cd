"""Service tokens: shown once, stored as a digest, ended by time, revocation or their maker."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from swarmui.models import ApiToken, Role
from swarmui.services import tokens

pytestmark = pytest.mark.django_db


def test_a_new_token_is_found_again_and_carries_its_role() -> None:
    issued = tokens.issue_token("ci", Role.OPERATOR)
    found = tokens.find_token(issued.key)
    assert found == issued.token
    assert found is not None
    assert found.role == Role.OPERATOR


def test_a_token_has_a_mark_256_random_bits_and_a_checksum() -> None:
    first, second = (tokens.issue_token("ci", Role.VIEWER).key for _ in range(2))
    assert first.startswith("sd_")
    assert len(first) == len("sd_") + 64 + 8
    assert first[:20] != second[:20]


def test_the_stored_row_holds_no_usable_token() -> None:
    issued = tokens.issue_token("ci", Role.VIEWER)
    values = [str(value) for value in ApiToken.objects.values().get().values()]
    assert not any(issued.key in value for value in values)
    assert len(issued.token.prefix) <= 11


def test_no_text_in_the_whole_database_is_a_usable_token() -> None:
    issued = tokens.issue_token("ci", Role.VIEWER)
    dump = "\n".join(_all_texts())
    assert issued.token.digest in dump  # the dump does see the row
    assert issued.key not in dump
    assert not any(tokens.is_well_formed(word) for word in dump.split())


def test_every_changed_character_makes_a_token_malformed() -> None:
    key = tokens.issue_token("ci", Role.VIEWER).key
    for position in range(3, len(key)):
        changed = key[:position] + ("0" if key[position] != "0" else "1") + key[position + 1 :]
        assert not tokens.is_well_formed(changed)
        assert tokens.find_token(changed) is None


@given(st.text())
def test_no_text_breaks_the_reading_of_a_token(text: str) -> None:
    assert not tokens.is_well_formed(text)


def test_a_well_formed_unknown_token_is_refused() -> None:
    assert tokens.find_token(tokens._new_key()) is None


def test_a_revoked_token_is_refused_at_once() -> None:
    issued = tokens.issue_token("ci", Role.VIEWER)
    assert tokens.revoke_token(issued.token.pk)
    assert tokens.find_token(issued.key) is None
    assert not tokens.revoke_token(issued.token.pk)


def test_a_token_past_its_time_is_refused() -> None:
    issued = tokens.issue_token("ci", Role.VIEWER)
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert tokens.find_token(issued.key) is None


def test_a_token_ends_with_the_account_of_its_maker() -> None:
    maker = get_user_model().objects.create_user("maker")
    issued = tokens.issue_token("ci", Role.VIEWER, created_by=maker)
    maker.is_active = False
    maker.save()
    assert tokens.find_token(issued.key) is None


def test_a_token_lives_90_days_unless_said_otherwise() -> None:
    issued = tokens.issue_token("ci", Role.VIEWER)
    lives = issued.token.expires_at - timezone.now()
    assert timedelta(days=89, hours=23) < lives <= timedelta(days=90)


@pytest.mark.parametrize(
    ("name", "role", "lifetime"),
    [
        ("", Role.VIEWER, timedelta(days=1)),
        ("   ", Role.VIEWER, timedelta(days=1)),
        ("n" * 81, Role.VIEWER, timedelta(days=1)),
        ("ci", Role.REVIEWER, timedelta(days=1)),  # only people review
        ("ci", Role.VIEWER, timedelta(days=90, seconds=1)),
        ("ci", Role.VIEWER, timedelta(0)),
        ("ci", Role.VIEWER, timedelta(days=-1)),
    ],
)
def test_what_no_token_may_be(name: str, role: Role, lifetime: timedelta) -> None:
    with pytest.raises(ValueError, match="token"):
        tokens.issue_token(name, role, lifetime=lifetime)
    assert not ApiToken.objects.exists()


def test_the_use_of_a_token_is_noted_once_a_minute(django_assert_num_queries) -> None:
    issued = tokens.issue_token("ci", Role.VIEWER)
    tokens.find_token(issued.key)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    with django_assert_num_queries(1):
        tokens.find_token(issued.key)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    tokens.find_token(issued.key)
    noted = ApiToken.objects.get().last_used_at
    assert noted is not None
    assert noted >= first


def _all_texts() -> list[str]:
    texts: list[str] = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            texts += [str(value) for row in cursor.fetchall() for value in row]
    return texts
