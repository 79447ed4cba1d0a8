"""Sign-up, sign-in and the account's pages as a browser shows them."""

import re

import pytest
from django.core.cache import cache

from genie.accounts import tokens
from leaderboard.teams.services import teams, webhooks
from tests.browser import go, overflows, violations
from tests.factories import make_user

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ENTRANCE = ["/login/", "/account/signup/", "/account/password/reset/"]


@pytest.fixture(autouse=True)
def _fresh():
    cache.clear()


@pytest.fixture
def nina():
    user = make_user("nina", email="nina@heron.example")
    tokens.issue(user, name="cluster", scopes=["read", "submit"], days=30)
    heron = teams.create(user, "Team Heron")
    teams.accept(teams.invite(heron, by=user), make_user("tom"))
    hook = webhooks.add(heron, "https://heron.example/a/rather/long/path", by=user)
    webhooks.queue_test(hook)
    return user


@pytest.mark.parametrize(("width", "scheme"), [("phone", "light"), ("desktop", "dark")])
def test_pages_fit_are_accessible_and_hold_policies(open_page, nina, width, scheme):
    mine = ["/account/", "/account/tokens/", "/account/email/", "/account/2fa/", "/account/2fa/webauthn/", "/account/sessions/",
            "/account/password/change/", "/account/notices/", "/account/delete/",
            "/teams/", "/teams/team-heron/", "/teams/team-heron/webhooks/"]  # fmt: skip
    page = open_page(ENTRANCE[0], width=width, scheme=scheme)
    site = page.url.removesuffix(ENTRANCE[0])
    for path in ENTRANCE:
        page.goto(site + path)
        assert not overflows(page), path
        assert violations(page) == [], path
    page = open_page(mine[0], width=width, scheme=scheme, user=nina)
    for path in mine:
        page.goto(site + path)
        assert not overflows(page), path
        assert violations(page) == [], path


def test_somebody_signs_in_makes_a_token_and_a_second_factor(open_page, nina):
    page = open_page("/login/")
    page.get_by_label("User name or e-mail address").fill("nina")
    page.get_by_label("Password", exact=True).fill("a long enough secret")
    page.keyboard.press("Enter")
    page.locator(".menu summary").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="My account")).to_be_hidden()
    page.keyboard.press("Enter")  # the name has the focus again
    page.get_by_role("link", name="My account").click()
    page.get_by_role("link", name="My tokens").click()
    page.get_by_label("Name").fill("laptop")
    page.get_by_role("button", name="Create token").click()
    assert page.locator(".secret code").inner_text().startswith("genie_")
    page.goto(page.url.replace("tokens/", "2fa/totp/activate/"))
    page.get_by_label("Password").fill("a long enough secret")
    page.keyboard.press("Enter")
    assert page.locator("img.qr").evaluate("image => image.naturalWidth") > 0
    assert violations(page) == []


def test_a_passkey_is_added_and_signs_in_without_a_password(open_page, nina):
    page = open_page("/login/?next=/account/2fa/webauthn/add/")
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    key = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
           "hasUserVerification": True, "isUserVerified": True}  # fmt: skip
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": key})
    page.get_by_label("User name or e-mail address").fill("nina")
    page.get_by_label("Password", exact=True).fill("a long enough secret")
    page.keyboard.press("Enter")
    page.wait_for_url("**/account/reauthenticate/**")
    page.get_by_label("Password").fill("a long enough secret")
    page.keyboard.press("Enter")
    page.get_by_label("Passwordless").check()
    page.get_by_role("button", name="Add").click()
    page.wait_for_url("**/recovery-codes/")
    assert violations(page) == []
    expect(page.get_by_label("Your codes")).to_have_value(
        re.compile(r"^(\d{8}\n){10}$")
    )
    page.get_by_label("I have saved my recovery codes").check()
    page.get_by_role("link", name="Continue").click()
    page.wait_for_url("**/2fa/")
    go(page, "/account/2fa/webauthn/")
    expect(page.get_by_text("passkey", exact=True)).to_be_visible()
    assert violations(page) == []

    page.context.clear_cookies()
    go(page, "/login/?next=/account/tokens/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="My tokens")).to_be_visible()
    go(page, "/account/sessions/")
    expect(page.get_by_text("this session")).to_be_visible()
    assert violations(page) == []
