"""Getting in: links that work once, passwords that cannot be guessed, sessions that end."""

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from swarmui.models import Membership, Role, SignInLink
from swarmui.services import sign_in
from swarmui.services.sign_in import LinkState
from swarmui.views import sign_in_limit

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def _fresh_counters_and_a_quick_hash(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cache.clear()


@pytest.fixture
def person() -> Any:
    return get_user_model().objects.create_user("ada", password=PASSWORD)


def _sign_in(client: Client, password: str = PASSWORD, **fields: str) -> Any:
    return client.post(
        reverse("sign_in"), {"username": "ada", "password": password, **fields}, **_FROM
    )


_FROM: dict[str, Any] = {"REMOTE_ADDR": "192.0.2.1"}


def _is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


# --- One-time links ------------------------------------------------------------------------------


def test_a_link_shows_a_button_and_posting_signs_in(client: Client, person: Any) -> None:
    path = sign_in.issue_link(person)
    page = client.get(path)
    assert page.status_code == 200
    assert b"<form" in page.content
    assert not _is_signed_in(client)
    answer = client.post(path)
    assert answer.status_code == 302
    assert answer["Location"] == reverse("runs")
    assert _is_signed_in(client)


def test_opening_a_link_changes_nothing(client: Client, person: Any) -> None:
    path = sign_in.issue_link(person)
    before = list(SignInLink.objects.values())
    for _ in range(3):
        client.get(path)
        client.head(path)
    assert list(SignInLink.objects.values()) == before


def test_a_link_works_once_and_then_says_so(client: Client, person: Any) -> None:
    path = sign_in.issue_link(person)
    client.post(path)
    other = Client()
    for answer in (other.get(path), other.post(path)):
        assert answer.status_code == 410
        assert b"used" in answer.content
    assert not _is_signed_in(other)


def test_a_link_past_its_time_says_so(client: Client, person: Any) -> None:
    path = sign_in.issue_link(person)
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for answer in (client.get(path), client.post(path)):
        assert answer.status_code == 410
        assert b"expired" in answer.content
    assert not _is_signed_in(client)


@pytest.mark.parametrize("secret", ["x", "x" * 5_000, "%00", "%ED%A0%80", "<script>"])
def test_a_link_nobody_issued_signs_nobody_in(client: Client, secret: str) -> None:
    answer = client.post(f"/sign-in/link/{secret}/")
    assert answer.status_code == 410
    assert b"<script>" not in answer.content.replace(b"<script nonce", b"").replace(
        b"<script src", b""
    )


def test_a_link_of_a_closed_account_signs_nobody_in(client: Client, person: Any) -> None:
    path = sign_in.issue_link(person)
    person.is_active = False
    person.save()
    assert client.post(path).status_code == 410
    assert not _is_signed_in(client)


def test_the_database_holds_no_usable_link(person: Any) -> None:
    secret = sign_in.issue_link(person).rstrip("/").rsplit("/", 1)[-1]
    assert not any(secret in str(value) for value in SignInLink.objects.values().get().values())


@pytest.mark.parametrize("lifetime", [timedelta(0), timedelta(hours=24, seconds=1)])
def test_no_link_lives_longer_than_a_day(person: Any, lifetime: timedelta) -> None:
    with pytest.raises(ValueError, match="24 hours"):
        sign_in.issue_link(person, lifetime=lifetime)


def test_a_link_lives_a_quarter_of_an_hour_unless_said_otherwise(person: Any) -> None:
    sign_in.issue_link(person)
    lives = SignInLink.objects.get().expires_at - timezone.now()
    assert timedelta(minutes=14) < lives <= timedelta(minutes=15)


@pytest.mark.django_db(transaction=True)
def test_of_eight_uses_at_once_one_signs_in(person: Any) -> None:
    secret = sign_in.issue_link(person).rstrip("/").rsplit("/", 1)[-1]
    states: list[LinkState] = []
    barrier = threading.Barrier(8)

    def use() -> None:
        try:
            barrier.wait()
            states.append(sign_in.use_link(secret).state)
        finally:
            connection.close()

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(states) == [LinkState.USED] * 7 + [LinkState.VALID]


def test_the_local_admin_is_made_once_and_has_no_password() -> None:
    first, second = sign_in.ensure_local_admin(), sign_in.ensure_local_admin()
    assert first == second
    assert not first.has_usable_password()
    assert Membership.objects.get(user=first).role == Role.ADMIN


def test_an_admin_account_that_is_there_keeps_its_password_and_role() -> None:
    user = get_user_model().objects.create_user("admin", password=PASSWORD)
    Membership.objects.create(user=user, role=Role.VIEWER)
    again = sign_in.ensure_local_admin()
    assert again.check_password(PASSWORD)
    assert Membership.objects.get(user=again).role == Role.VIEWER


def test_a_link_without_a_person_is_the_local_admins(client: Client) -> None:
    client.post(sign_in.issue_link())
    assert client.session["_auth_user_id"] == str(sign_in.ensure_local_admin().pk)


# --- Passwords -----------------------------------------------------------------------------------


def test_the_right_password_signs_in(client: Client, person: Any) -> None:
    answer = _sign_in(client)
    assert (answer.status_code, answer["Location"]) == (302, reverse("runs"))
    assert _is_signed_in(client)


@pytest.mark.parametrize(
    ("username", "password"),
    [
        ("ada", "wrong"),
        ("nobody", PASSWORD),
        ("ada\0", PASSWORD),
        ("ada", ""),
        ("", PASSWORD),
        ("a" * 10_000, PASSWORD),
        ("<script>alert(1)</script>", "x"),
    ],
)
def test_anything_else_does_not(client: Client, person: Any, username: str, password: str) -> None:
    answer = client.post(reverse("sign_in"), {"username": username, "password": password})
    assert answer.status_code == 422
    assert b"<script>alert" not in answer.content
    assert not _is_signed_in(client)


def test_a_closed_account_does_not_get_in(client: Client, person: Any) -> None:
    person.is_active = False
    person.save()
    assert _sign_in(client).status_code == 422


@pytest.mark.parametrize(
    ("wanted", "goes_to"),
    [
        ("/runs/?status=ok", "/runs/?status=ok"),
        ("http://testserver/runs/", "http://testserver/runs/"),
        ("", "/runs/"),
        ("https://evil.example/", "/runs/"),
        ("//evil.example/", "/runs/"),
        ("///evil.example/", "/runs/"),
        ("/\\evil.example/", "/runs/"),
        ("http:///evil.example/", "/runs/"),
        ("javascript:alert(1)", "/runs/"),
        ("http://testserver@evil.example/", "/runs/"),
        ("http://testserver.evil.example/", "/runs/"),
        (" https://evil.example/", "/runs/"),
        ("\x08//evil.example", "/runs/"),
    ],
)
def test_next_leads_only_to_this_host(
    client: Client, person: Any, wanted: str, goes_to: str
) -> None:
    assert _sign_in(client, next=wanted)["Location"] == goes_to


def test_five_failures_in_a_minute_are_enough(client: Client, person: Any) -> None:
    statuses = [_sign_in(client, "wrong").status_code for _ in range(6)]
    assert statuses == [422] * 5 + [429]
    refused = _sign_in(client)  # the right password too
    assert refused.status_code == 429
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert not _is_signed_in(client)


def test_another_spelling_of_the_account_is_the_same_account(client: Client, person: Any) -> None:
    for spelling in ("ada", "ADA", "Ada", "ａｄａ", "aDa"):
        client.post(reverse("sign_in"), {"username": spelling, "password": "x"}, **_FROM)
    assert _sign_in(client).status_code == 429


def test_another_address_and_another_account_are_not_held_up(client: Client, person: Any) -> None:
    for _ in range(6):
        _sign_in(client, "wrong")
    elsewhere = {"REMOTE_ADDR": "192.0.2.2"}
    form = {"username": "ada", "password": PASSWORD}
    assert client.post(reverse("sign_in"), form, **elsewhere).status_code == 302
    form = {"username": "bob", "password": "x"}
    assert Client().post(reverse("sign_in"), form, **_FROM).status_code == 422


def test_many_accounts_tried_from_one_address_are_held_up(client: Client) -> None:
    statuses = [
        client.post(
            reverse("sign_in"), {"username": f"user{number}", "password": "x"}, **_FROM
        ).status_code
        for number in range(sign_in_limit.PER_ADDRESS + 1)
    ]
    assert statuses[-2:] == [422, 429]


def test_the_right_password_clears_the_failures(client: Client, person: Any) -> None:
    for _ in range(3):
        for _ in range(4):
            _sign_in(Client(), "wrong")
        assert _sign_in(Client()).status_code == 302


def test_a_new_minute_begins_anew(
    client: Client, person: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(6):
        _sign_in(client, "wrong")
    monkeypatch.setattr("django.core.cache.backends.locmem.time.time", lambda: 4e9)
    assert _sign_in(client).status_code == 302


def test_nobody_gets_in_while_attempts_cannot_be_counted(
    client: Client, person: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ConnectionError("the counter is away")

    monkeypatch.setattr(sign_in_limit.cache, "add", broken)
    answer = _sign_in(client)
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0


# --- Sessions ------------------------------------------------------------------------------------


def test_session_key_and_csrf_token_change_at_sign_in(person: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    client.get(reverse("sign_in"))
    token = client.cookies[_csrf_cookie()].value
    planted = client.session
    planted["planted"] = True
    planted.save()
    client.cookies[_session_cookie()] = planted.session_key or ""
    answer = client.post(
        reverse("sign_in"),
        {"username": "ada", "password": PASSWORD, "csrfmiddlewaretoken": token},
    )
    assert answer.status_code == 302
    assert client.cookies[_session_cookie()].value != planted.session_key
    assert client.cookies[_csrf_cookie()].value != token
    assert not Session.objects.filter(session_key=planted.session_key).exists()


def test_sign_in_without_the_csrf_token_is_refused(person: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    assert _sign_in(client).status_code == 403
    assert client.post(sign_in.issue_link(person)).status_code == 403
    assert not _is_signed_in(client)
    assert SignInLink.objects.get().used_at is None


def test_signing_out_ends_the_session_in_the_database(client: Client, person: Any) -> None:
    _sign_in(client)
    key = client.session.session_key
    assert client.get(reverse("sign_out")).status_code == 405
    assert Session.objects.filter(session_key=key).exists()
    assert client.post(reverse("sign_out")).status_code == 302
    assert not Session.objects.filter(session_key=key).exists()


@pytest.mark.parametrize(
    ("clock", "ago", "stays"),
    [
        ("signed_in_at", timedelta(days=6, hours=23), True),
        ("signed_in_at", timedelta(days=7, minutes=1), False),
        ("seen_at", timedelta(hours=11), True),
        ("seen_at", timedelta(hours=12, minutes=1), False),
    ],
)
@pytest.mark.parametrize("path", ["/runs/", "/api/v1/runs"])
def test_a_session_ends_after_idle_hours_and_after_days(
    client: Client, person: Any, clock: str, ago: timedelta, stays: bool, path: str
) -> None:
    _sign_in(client)
    session = client.session
    session[clock] = (timezone.now() - ago).isoformat()
    session.save()
    answer = client.get(path)
    assert (answer.status_code == 200) is stays
    assert _is_signed_in(client) is stays


def test_being_there_starts_the_idle_clock_anew(client: Client, person: Any) -> None:
    _sign_in(client)
    session = client.session
    session["seen_at"] = (timezone.now() - timedelta(hours=11)).isoformat()
    session.save()
    client.get("/api/v1/runs")
    assert timezone.now() - timedelta(minutes=1) < _instant(client.session["seen_at"])


def test_a_new_password_ends_the_other_sessions(client: Client, person: Any) -> None:
    _sign_in(client)
    person.set_password("another long password")
    person.save()
    assert client.get("/api/v1/runs").status_code == 401


def test_who_is_signed_in_is_led_past_the_sign_in_page(client: Client, person: Any) -> None:
    _sign_in(client)
    assert client.get(reverse("sign_in"))["Location"] == reverse("runs")


def _instant(text: str) -> Any:
    return datetime.fromisoformat(text)


def _session_cookie() -> str:
    return settings.SESSION_COOKIE_NAME


def _csrf_cookie() -> str:
    return settings.CSRF_COOKIE_NAME
