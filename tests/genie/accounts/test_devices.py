"""Sessions are listed and ended; strangers lock nobody out; too many tries are refused."""

import json
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from genie.accounts import devices, throttles
from tests.factories import make_user, signed_in

PASSWORD = "a long enough secret"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture(autouse=True)
def _fresh(settings):
    settings.USERSESSIONS_TRACK_ACTIVITY = True
    cache.clear()


def client_at(address="192.0.2.1", user_agent=FIREFOX):
    return Client(REMOTE_ADDR=address, headers={"user-agent": user_agent})


def sign_in(client, password=PASSWORD, name="nina"):
    return client.post("/login/", {"login": name, "password": password})


def test_sessions_are_listed_and_ended_one_by_one_or_all():
    nina = make_user("nina")
    here, phone, lab = client_at(), client_at("192.0.2.2", "<b>curl/8"), client_at()
    for client in (here, phone, lab):
        sign_in(client)
    page = here.get("/account/sessions/").text
    assert page.count("Firefox on Linux") >= 2
    assert "192.0.2.2" in page
    assert "<b>curl" not in page
    assert page.count("this session") == 1
    # wherever it began: the own one comes first
    for client in (here, lab):
        page = client.get("/account/sessions/").text
        assert page.index("this session") < page.index("192.0.2.2")

    row = UserSession.objects.get(user=nina, ip="192.0.2.2")
    rival = signed_in(make_user("rita"))
    assert rival.post(f"/account/sessions/{row.pk}/end/").status_code == 404
    here.post(f"/account/sessions/{row.pk}/end/")
    assert phone.get("/account/").status_code == 302
    assert lab.get("/account/").status_code == 200

    here.post("/account/sessions/")
    assert lab.get("/account/").status_code == 302
    assert here.get("/account/").status_code == 200


def test_a_new_password_ends_the_others():
    make_user("nina")
    here, lab = client_at(), client_at()
    sign_in(here)
    sign_in(lab)
    new = {"oldpassword": PASSWORD, "password1": "horses walk on", "password2": "horses walk on"}  # fmt: skip
    here.post("/account/password/change/", new)
    assert lab.get("/account/").status_code == 302
    sign_in(here, "horses walk on")
    assert here.get("/account/sessions/").text.count("<bdi>Firefox") == 1


def test_use_is_noted_now_and_then_and_forgotten_with_the_session():
    client = client_at()
    client.force_login(make_user("nina"))
    client.get("/account/")
    before = UserSession.objects.get().last_seen_at
    client.get("/account/")
    assert UserSession.objects.get().last_seen_at == before
    cache.clear()
    client.get("/account/")
    assert UserSession.objects.get().last_seen_at > before
    assert devices.forget_ended() == 0
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert devices.forget_ended() == 1
    assert not UserSession.objects.exists()


def test_an_account_costs_a_page_three_queries(django_assert_num_queries):
    client = client_at()
    client.force_login(make_user("nina"))
    client.get("/docs/")
    cache.clear()
    # the session, the account, the use; no rights on a page for everybody
    with django_assert_num_queries(3) as captured:
        assert "nina" in client.get("/docs/").text
    assert captured[-1]["sql"].startswith("UPDATE")


@pytest.mark.every_engine
def test_strangers_who_guess_lock_nobody_out_of_their_own_device():
    make_user("nina", email="nina@heron.example")
    own, stranger = client_at(), client_at("198.51.100.7")
    sign_in(own)
    own.post("/logout/")
    tries = [sign_in(stranger, f"guess {n}") for n in range(6)]
    assert [answer.status_code for answer in tries] == [200] * 5 + [429]
    assert int(tries[-1]["Retry-After"]) > 0
    assert "Too many failed attempts" in tries[-1].text
    assert sign_in(client_at("198.51.100.8")).status_code == 429
    assert sign_in(own, "mistyped").status_code == 200
    assert sign_in(own).status_code == 302

    # a device that was stolen has five tries, too
    own.post("/logout/")
    tries = [sign_in(own, f"guess {n}") for n in range(6)]
    assert tries[-1].status_code == 429


def test_a_device_is_known_for_its_own_accounts_only():
    make_user("nina")
    make_user("rita")
    rival, stranger = client_at(), client_at("198.51.100.7")
    sign_in(rival, name="rita")
    for n in range(5):
        sign_in(stranger, f"guess {n}")
    assert sign_in(rival, "guess").status_code == 429
    rival.cookies[devices.COOKIE] = "forged.1"
    assert sign_in(rival, "guess").status_code == 429


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        ("", "Unknown device"),
        ("python-requests/2.32", "python-requests"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140 Safari/537.36 Edg/140", "Edge on Windows"),
    ],
)  # fmt: skip
def test_devices_are_named_as_people_know_them(user_agent, words):
    assert devices.describe_browser(user_agent) == words


def test_bad_tokens_links_and_signatures_are_refused_after_some(monkeypatch):
    monkeypatch.setattr(throttles.WrongTokens, "rate", "2/hour")
    monkeypatch.setattr(throttles.WrongLinks, "rate", "2/hour")
    client = client_at()
    bad = {"authorization": "Bearer genie_nonsense"}
    seen = [client.get("/api/v1/submissions/", headers=bad) for _ in range(3)]
    assert [answer.status_code for answer in seen] == [401, 401, 429]
    assert seen[-1].json()["code"] == "throttled"
    assert int(seen[-1]["Retry-After"]) > 0

    client.force_login(make_user("nina"))
    for path in ("/work/invitation/nonsense/", "/team-invitation/nonsense/"):
        cache.clear()
        seen = [client.get(path) for _ in range(3)]
        assert [answer.status_code for answer in seen] == [410, 410, 429], path
        assert int(seen[-1]["Retry-After"]) > 0

    cache.clear()
    seen = [client.post("/turk", content_type="application/json") for _ in range(3)]
    kinds = [json.loads(answer.content)["__type"] for answer in seen]
    assert kinds[-1] == "ThrottlingException"
    assert "ThrottlingException" not in kinds[:2]
