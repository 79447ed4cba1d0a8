"""Accounts of one's own: an address is confirmed, tries are bounded, factors are two."""

import re
import time

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client

from crowd.workers.services.invitations import register_worker
from genie.accounts.addresses import addresses_of
from tests.factories import make_user, signed_in

GOOD = "horses walk on quietly"
NEW = {"username": "olga", "email": "olga@heron.example", "password1": GOOD, "password2": GOOD}  # fmt: skip


@pytest.fixture(autouse=True)
def _fresh_counts():
    cache.clear()


def sign_up(client, **fields):
    return client.post("/account/signup/", {**NEW, **fields})


def sign_in(client, name="olga", password=GOOD):
    return client.post("/login/", {"login": name, "password": password})


def link_in(mail, path):
    return re.search(rf"http://testserver({path}[^\s]+)", mail.body).group(1)


def test_who_signs_up_confirms_the_address_and_is_in(mailoutbox):
    client = Client()
    assert 'href="/account/signup/"' in client.get("/login/").text
    assert "Sign up" in client.get("/account/signup/").text
    answer = sign_up(client)
    assert answer["Location"] == "/account/confirm-email/"
    assert "We have sent you an e-mail" in client.get(answer["Location"]).text
    (mail,) = mailoutbox
    assert mail.to == ["olga@heron.example"]
    assert mail.subject.startswith("[Genie] ")

    assert sign_in(Client())["Location"] == "/account/confirm-email/"
    assert client.get("/account/").status_code == 302  # not in before that

    link = link_in(mail, "/account/confirm-email/")
    assert client.get(link).status_code == 200  # a mail scanner's look confirms nothing
    assert not EmailAddress.objects.get().verified
    client.post(link)
    assert EmailAddress.objects.get().verified

    again = Client()
    assert sign_in(again)["Location"] == "/submissions/"
    assert "olga@heron.example" in again.get("/account/").text
    assert sign_in(Client(), "olga@heron.example")["Location"] == "/submissions/"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"password1": "horse", "password2": "horse"}, "too short"),
        ({"password2": "something else"}, "same password each time"),
        ({"email": "olga"}, "valid email"),
        ({"email": ""}, "required"),
        ({"username": "nina"}, "already exists"),
        ({"username": "a b\n"}, "valid username"),
    ],
)
def test_what_cannot_be_an_account_is_said(fields, sentence, mailoutbox):
    make_user("nina")
    answer = sign_up(Client(), **fields)
    assert answer.status_code == 200
    assert sentence in answer.text
    assert get_user_model().own.count() == 1
    assert mailoutbox == []


def test_nobody_learns_who_has_an_account(mailoutbox):
    sign_up(Client())
    EmailAddress.objects.update(verified=True)
    cache.clear()
    answer = sign_up(Client(), username="rival")
    assert answer["Location"] == "/account/confirm-email/"
    assert get_user_model().own.count() == 1
    assert "already" in mailoutbox[-1].body

    for address in ("olga@heron.example", "nobody@heron.example"):
        asked = Client().post("/account/password/reset/", {"email": address})
        assert asked["Location"] == "/account/password/reset/done/"


def test_sign_up_can_be_closed(settings, mailoutbox):
    settings.GENIE = {**settings.GENIE, "SIGN_UP": False}
    assert "Sign-up is closed" in Client().get("/account/signup/").text
    sign_up(Client())
    assert not get_user_model().own.exists()
    assert "/account/signup/" not in Client().get("/login/").text


def test_accounts_that_staff_made_need_no_address():
    make_user("wim")
    assert sign_in(Client(), "wim", "a long enough secret").status_code == 302
    assert sign_in(Client(), "wim", "a long enough secret")["Location"] != (
        "/account/confirm-email/"
    )


def test_each_role_lands_on_its_page():
    make_user("wim"), make_user("stan", is_staff=True)
    register_worker(user=make_user("wren"), platform_worker_id="wren")
    landed = [
        sign_in(Client(), name, "a long enough secret")["Location"]
        for name in ("wim", "stan", "wren")
    ]
    assert landed == ["/submissions/", "/admin/", "/work/"]


def test_pages_are_compressed():
    page = Client().get("/", headers={"Accept-Encoding": "gzip"})
    assert page["Content-Encoding"] == "gzip"
    assert len(page.content) < len(Client().get("/").content) / 2


def test_guessing_ends_with_a_page_that_helps():
    make_user("nina")
    client = Client()
    seen = [sign_in(client, "nina", f"guess {n}") for n in range(12)]
    assert "do not match" in seen[0].text
    assert any("Too many" in answer.text for answer in seen[-3:])
    right = sign_in(client, "nina", "a long enough secret")
    assert right.status_code != 302  # nor does the right one get in meanwhile


def test_signing_up_is_bounded_too(mailoutbox):
    client = Client()
    seen = [
        sign_up(client, username=f"bot{n}", email=f"bot{n}@bots.example")
        for n in range(25)
    ]
    assert seen[-1].status_code == 429
    assert "Too many attempts" in seen[-1].text


def code_for(secret, skip=0):
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + skip))


def test_a_second_factor_is_asked_for_everywhere(mailoutbox):
    make_user("ada", is_staff=True, is_superuser=True, email="ada@genie.example")
    client = Client()
    sign_in(client, "ada", "a long enough secret")
    asked = client.get("/account/2fa/totp/activate/")
    again = {"password": "a long enough secret"}
    page = client.post(asked["Location"], again, follow=True)
    secret = page.context["form"].secret
    assert "data:image/svg+xml" in page.text
    done = client.post("/account/2fa/totp/activate/", {"code": code_for(secret)})
    assert done.status_code == 302
    assert client.get("/account/2fa/recovery-codes/").status_code == 200

    for start in ("/login/", "/admin/"):
        cache.clear()  # a code works once
        fresh = Client()
        form = fresh.get(start, follow=True).redirect_chain
        assert start == "/login/" or form[-1][0].startswith("/login/?next=")
        asked = sign_in(fresh, "ada", "a long enough secret")
        assert asked["Location"] == "/account/2fa/authenticate/"
        assert fresh.get("/admin/").status_code == 302
        wrong = fresh.post("/account/2fa/authenticate/", {"code": "000000"})
        assert wrong.status_code == 200
        right = fresh.post("/account/2fa/authenticate/", {"code": code_for(secret)})
        assert right.status_code == 302
        assert fresh.get("/admin/").status_code == 200


def test_only_confirmed_addresses_get_mail():
    nina, olga = make_user("nina", email="nina@heron.example"), make_user("olga")
    gone = make_user("gone", email="gone@heron.example", is_active=False)
    EmailAddress.objects.create(user=olga, email="o@heron.example", primary=True)
    assert addresses_of([nina, olga, gone]) == {nina.pk: "nina@heron.example"}
    EmailAddress.objects.create(user=olga, email="p@heron.example", verified=True)
    assert addresses_of([olga]) == {olga.pk: "p@heron.example"}


def test_tokens_are_made_shown_once_and_revoked_on_a_page():
    nina, rita = make_user("nina"), make_user("rita")
    client, other = Client(), Client()
    client.force_login(nina)
    other.force_login(rita)
    form = {"name": "cluster", "scopes": ["read", "submit"], "days": "30"}
    made = client.post("/account/tokens/", form)
    assert made["Location"] == "/account/tokens/"
    shown = client.get("/account/tokens/")
    secret = re.search(r"genie_[\w-]{30,}", shown.text).group()
    assert "no-store" in shown["Cache-Control"]
    assert "genie_" not in client.get("/account/tokens/").text
    headers = {"Authorization": f"Token {secret}"}
    assert Client().get("/api/v1/submissions/", headers=headers).status_code == 200

    token = nina.access_tokens.get()
    assert token.scopes == ["read", "submit"]
    path = f"/account/tokens/{token.pk}/revoke/"
    assert other.post(path).status_code == 404
    assert "cluster" not in other.get("/account/tokens/").text
    assert client.get(path)["Location"] == "/account/tokens/"
    assert "cluster has been revoked" in client.post(path, follow=True).text
    assert "cluster" not in client.get("/account/tokens/").text
    assert Client().get("/api/v1/submissions/", headers=headers).status_code == 401


@pytest.mark.parametrize(
    "change", [{"scopes": []}, {"scopes": ["staff"]}, {"days": "7"}, {"name": ""}]
)
def test_a_form_that_makes_no_token_says_what_is_wrong(change):
    nina = make_user("nina")
    client = signed_in(nina)
    form = {"name": "cluster", "scopes": ["read"], "days": "30", **change}
    answer = client.post("/account/tokens/", form)
    assert answer.status_code == 400
    assert "error" in answer.text
    assert not nina.access_tokens.exists()
