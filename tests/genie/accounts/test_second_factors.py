"""Roles that take a second factor open nothing without one, in browsers or to tokens."""

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.test import Client

from genie.accounts import tokens
from genie.accounts.models import TaskRole
from tests.factories import make_user, signed_in
from tests.genie.accounts.test_signing_up_and_in import code_for

PASSWORD = "a long enough secret"
SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


@pytest.fixture(autouse=True)
def _finance_takes_two(settings):
    settings.GENIE = {**settings.GENIE, "SECOND_FACTOR": ["Finance", "superusers"]}
    cache.clear()


def finance():
    return Group.objects.get_or_create(name="Finance")[0]


def in_finance(name="fay", **fields):
    user = make_user(name, **{"is_staff": True, **fields})
    user.groups.add(finance())
    return user


def of_a_task(name="tess", role=finance):
    user = make_user(name, is_staff=True)
    TaskRole.objects.create(user=user, role=role(), pool="tidy-news")
    return user


def another_role():
    return Group.objects.create(name="Another")


@pytest.mark.parametrize(
    "make",
    [in_finance, of_a_task, lambda: make_user("ada", is_staff=True, is_superuser=True)],
)
def test_who_has_the_role_is_led_to_set_one_up(make):
    client = signed_in(make())
    for path in ("/admin/", "/", "/account/tokens/"):
        assert client.get(path)["Location"] == "/account/2fa/?required=yes", path
    page = client.get("/account/2fa/?required=yes")
    assert "Your role on this site requires a second factor" in page.text
    refused = client.get("/api/v1/submissions/")
    assert refused.status_code == 403
    assert refused.json()["code"] == "second-factor-required"
    assert client.post("/logout/").status_code == 302


@pytest.mark.parametrize(
    "make",
    [
        lambda: make_user("nina"),
        lambda: make_user("una", is_staff=True),
        lambda: (of_a_task(), of_a_task("una", another_role))[1],
        # without staff status the role opens nothing
        lambda: in_finance(is_staff=False),
    ],
)
def test_nobody_else_is_asked(make):
    client = signed_in(make())
    assert client.get("/").status_code == 200
    assert client.get("/api/v1/whoami/").status_code == 200


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)  # allauth says so after it is committed
def test_setting_one_up_opens_the_role_and_codes_are_shown_once():
    user = in_finance()
    client = Client()
    client.post("/login/", {"login": "fay", "password": PASSWORD})
    assert client.get("/admin/")["Location"] == "/account/2fa/?required=yes"
    asked = client.get("/account/2fa/totp/activate/")["Location"]
    page = client.post(asked, {"password": PASSWORD}, follow=True)
    secret = page.context["form"].secret
    with_codes = client.post("/account/2fa/totp/activate/", {"code": code_for(secret)})
    assert with_codes["Location"] == "/account/2fa/recovery-codes/"
    recovery = Authenticator.objects.get(user=user, type="recovery_codes").wrap()
    first = recovery.get_unused_codes()[0]
    assert first in client.get(with_codes["Location"]).text
    assert first not in client.get(with_codes["Location"]).text
    assert client.get("/account/2fa/recovery-codes/download/").status_code == 403
    assert client.get("/admin/").status_code == 200

    # the last one stays, or the next sign-in would begin without
    kept = client.post("/account/2fa/totp/deactivate/", follow=True)
    assert "add another one before" in kept.text
    assert Authenticator.objects.filter(user=user, type="totp").exists()


def test_a_session_from_before_has_to_use_it():
    user = in_finance()
    TOTP.activate(user, SECRET)
    client = signed_in(user)
    asked = client.get("/admin/auth/")["Location"]
    assert asked == "/account/2fa/reauthenticate/?next=%2Fadmin%2Fauth%2F"
    client.post("/account/2fa/reauthenticate/", {"code": code_for(SECRET)})
    assert client.get("/admin/").status_code == 200


def test_a_password_alone_adds_no_factor_beside_the_first_one():
    user = in_finance()
    client = Client()
    client.post("/login/", {"login": "fay", "password": PASSWORD})
    TOTP.activate(user, SECRET)  # on another device
    client.post("/account/reauthenticate/", {"password": PASSWORD})
    for path in ("webauthn/add/", "recovery-codes/generate/", "totp/deactivate/"):
        asked = client.post(f"/account/2fa/{path}")["Location"]
        assert asked == "/account/2fa/reauthenticate/?", path
    client.post("/account/2fa/reauthenticate/", {"code": code_for(SECRET)})
    assert client.get("/account/2fa/webauthn/add/").status_code == 200


def test_tokens_with_the_scope_staff_say_that_one_is_missing():
    user = in_finance()

    def ask(*scopes):
        _, secret = tokens.issue(user, name="job", scopes=scopes, days=1)
        headers = {"authorization": f"Bearer {secret}"}
        return Client().get("/api/v1/whoami/", headers=headers)

    refused = ask("read", "staff")
    assert refused.status_code == 403
    assert refused.json()["code"] == "second-factor-required"
    assert "set one up" in refused.json()["detail"]
    assert ask("read").status_code == 200  # nobody's staff
    TOTP.activate(user, SECRET)
    assert ask("read", "staff").status_code == 200
