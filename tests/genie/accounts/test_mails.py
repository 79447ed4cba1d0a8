"""Mails about accounts: ours from the subject to the last line, and a way back."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import allauth
import pytest
from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress, Login
from allauth.core import context
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages.storage.fallback import FallbackStorage
from django.core.cache import cache
from django.template.loader import get_template
from django.test import Client, RequestFactory
from django.utils import timezone
from django.utils.html import strip_tags

from genie.accounts.adapter import ConfirmedAddress
from tests.factories import make_task, make_user
from tests.genie.accounts.test_signing_up_and_in import (
    NEW,
    code_for,
    link_in,
    sign_in,
    sign_up,
)

PASSWORD = "a long enough secret"
SUBMIT = "/tasks/tidy-news/submit/"


@pytest.fixture(autouse=True)
def _site(settings):
    cache.clear()
    settings.GENIE = {**settings.GENIE, "SITE_URL": "https://genie.example.org"}


def plain(mail):
    """Hold a mail against what all of ours have in common."""
    said = f"{mail.subject}\n{mail.body}"
    assert mail.subject.startswith("[Genie] ")
    assert len(mail.subject) < 78
    assert mail.body.rstrip().endswith("Genie · https://genie.example.org")
    for stock in ("Hello from", "Thank you for using", "testserver!", "127.0.0.1:"):
        assert stock not in said
    for markup in ("{{", "{%", "&#x27;", "&quot;", "&amp;", "<"):
        assert markup not in said
    assert "\n\n\n" not in mail.body
    assert max(map(len, re.sub(r"https?://\S+", "", mail.body).split("\n"))) <= 78
    assert words_of(mail) == mail.body.replace("\n--\n", " ").split()
    return mail.body


def words_of(mail):
    ((html, kind),) = mail.alternatives
    assert kind == "text/html"
    assert "<title>[Genie] " in html
    without = re.sub(r"<title>.*?</title>|(?<=>)Genie(?=</p>)", "", html)
    without = re.sub(r'<a href="[^"]+" style="display.*?</a>', "", without)
    return unescape(strip_tags(without)).split()


def confirm(client, link):
    """Send the form behind a link, with its hidden fields and to its address."""
    page = client.get(link).text
    address = re.search(r'<form method="post" action="(/account/[^"]*)"', page)
    fields = re.findall(r'name="(next)" value="([^"]*)"', page)
    return client.post(address.group(1), dict(fields))


def test_the_way_to_a_form_leads_back_to_it_after_signing_up(mailoutbox):
    make_task("tidy-news")
    client = Client()
    login = client.get(SUBMIT)["Location"]
    assert login == f"/login/?next={SUBMIT}"
    signup = re.search(r'href="(/account/signup/[^"]*)"', client.get(login).text)
    page = client.get(signup.group(1)).text
    assert f'name="next" value="{SUBMIT}"' in page
    sent = client.post("/account/signup/", {**NEW, "next": SUBMIT})
    waiting = client.get(sent["Location"]).text
    assert f"/login/?next={SUBMIT}" in waiting

    # the link is opened elsewhere, in a browser that knows nothing of this
    other = Client()
    link = link_in(mailoutbox[0], "/account/confirm-email/")
    done = confirm(other, link)
    assert done["Location"] == login
    assert other.post(done["Location"], {
        "login": "olga", "password": NEW["password1"], "next": SUBMIT,
    })["Location"] == SUBMIT  # fmt: skip


def test_the_link_that_comes_with_a_first_sign_in_leads_back_too(mailoutbox):
    sign_up(Client())
    cache.clear()
    Client().post(
        "/login/", {"login": "olga", "password": NEW["password1"], "next": SUBMIT}
    )
    link = link_in(mailoutbox[-1], "/account/confirm-email/")
    done = confirm(Client(), link)
    assert done["Location"] == f"/login/?next={SUBMIT}"


class Elsewhere:
    """Another service, as allauth hands it to templates."""

    uses_apps = False

    def __init__(self, name):
        self.id, self.name = name.lower().removesuffix(".org"), name

    def get_login_url(self, request, **query):
        return f"/account/{self.id}/login/?{urlencode(query)}"


@pytest.mark.parametrize("page", ["/login/", "/account/signup/"])
def test_other_services_come_first_and_keep_the_way_back(monkeypatch, page):
    there = [Elsewhere("GitHub"), Elsewhere("Orcid.org")]
    monkeypatch.setattr(
        DefaultSocialAccountAdapter, "list_providers", lambda self, request: there
    )
    text = Client().get(f"{page}?next={SUBMIT}").text
    query = urlencode({"process": "login", "next": SUBMIT}).replace("&", "&amp;")
    form = f'<form method="post" action="/account/github/login/?{query}">'
    assert text.index(form) < text.index('type="password"')
    assert "Continue with GitHub" in text
    assert "Continue with ORCID" in text


def test_the_way_back_outlives_another_service_and_the_confirmation(mailoutbox):
    """It comes back with what the session kept, and the request has no `next`."""
    olga = make_user("olga", email="olga@heron.example", last_login=None)
    EmailAddress.objects.create(user=olga, email=olga.email)
    request = RequestFactory().get("/account/github/login/callback/")
    request.user, request.session = AnonymousUser(), {}
    request._messages = FallbackStorage(request)
    kept = {"sociallogin": SocialLogin()}
    kept["sociallogin"].state["next"] = SUBMIT
    login = Login(olga, signup=True, email=olga.email, signal_kwargs=kept)
    with context.request_context(request):
        answer, _ = ConfirmedAddress(None, request, login).handle()
    assert answer["Location"].endswith(f"?next={SUBMIT}")
    link = link_in(mailoutbox[0], "/account/confirm-email/")
    assert confirm(Client(), link)["Location"] == f"/login/?next={SUBMIT}"


@pytest.mark.parametrize("away", ["https://evil.example/", "//evil.example", "x:y"])
def test_no_way_back_leads_away_from_the_site(mailoutbox, away):
    client = Client()
    sent = client.post("/account/signup/", {**NEW, "next": away})
    assert "evil" not in sent["Location"]
    assert "evil" not in mailoutbox[0].body
    link = link_in(mailoutbox[0], "/account/confirm-email/")
    assert client.post(link)["Location"] == "/login/"


def test_who_signs_up_is_asked_to_confirm_the_address(mailoutbox):
    sign_up(Client())
    body = plain(mailoutbox[0])
    assert mailoutbox[0].subject == "[Genie] Confirm your e-mail address"
    assert "olga" in body
    assert "three days" in body
    assert "http://testserver/account/confirm-email/" in body
    html = mailoutbox[0].alternatives[0][0]
    link = link_in(mailoutbox[0], "/account/confirm-email/")
    assert f'href="http://testserver{link}"' in html
    assert re.search(r'<a href="[^"]*confirm-email[^"]*"[^>]*>Confirm</a>', html)


def test_who_has_an_account_already_is_told_so(mailoutbox):
    nina = make_user("nina", email="nina@heron.example")
    EmailAddress.objects.create(user=nina, email=nina.email, verified=True)
    sign_up(Client(), email=nina.email)
    body = plain(mailoutbox[0])
    assert mailoutbox[0].subject == "[Genie] You already have an account"
    assert nina.email in body
    assert "/account/password/reset/" in body


def test_a_forgotten_password_is_reset_and_the_change_is_told(mailoutbox):
    nina = make_user("nina", email="nina@heron.example", last_login=timezone.now())
    client = Client()
    client.post("/account/password/reset/", {"email": nina.email})
    body = plain(mailoutbox[0])
    assert mailoutbox[0].subject == "[Genie] Reset your password"
    assert "nina" in body
    form = client.get(link_in(mailoutbox[0], "/account/password/reset/key/"))
    fresh = "a path along the river"
    client.post(form["Location"], {"password1": fresh, "password2": fresh})
    body = plain(mailoutbox[-1])
    assert mailoutbox[-1].subject == "[Genie] Your password was reset"
    assert "127.0.0.1" in body  # from where
    assert sign_in(Client(), "nina", fresh)["Location"] == "/submissions/"
    again = Client().get(
        link_in(mailoutbox[0], "/account/password/reset/key/"), follow=True
    )
    assert "Each link works only once" in again.text


def test_an_unknown_address_is_told_that_there_is_no_account(mailoutbox):
    Client().post("/account/password/reset/", {"email": "nobody@heron.example"})
    body = plain(mailoutbox[0])
    assert mailoutbox[0].subject == "[Genie] No account with this e-mail address"
    assert "nobody@heron.example" in body
    assert "/account/signup/" in body


def signed_in(name="nina", **fields):
    user = make_user(name, email=f"{name}@heron.example", **fields)
    EmailAddress.objects.create(
        user=user, email=user.email, verified=True, primary=True
    )
    client = Client()
    sign_in(client, name, PASSWORD)
    return client, user


def test_changes_of_password_and_addresses_are_told(mailoutbox):
    client, nina = signed_in()
    new = "a path along the river"
    client.post(
        "/account/password/change/",
        {"oldpassword": PASSWORD, "password1": new, "password2": new},
    )
    assert "password of your account was changed" in plain(mailoutbox[-1])
    sign_in(client, "nina", new)
    client.post("/account/email/", {"action_add": "", "email": "n@rook.example"})
    to_confirm = mailoutbox[-1]
    assert "nina" in plain(to_confirm)
    client.post(link_in(to_confirm, "/account/confirm-email/"))
    client.post("/account/email/", {"action_primary": "", "email": "n@rook.example"})
    client.post("/account/email/", {"action_remove": "", "email": nina.email})
    for mail in mailoutbox:
        plain(mail)
    removed = next(m for m in mailoutbox if "removed" in m.subject)
    assert nina.email in removed.body


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_changes_of_the_second_factor_are_told(mailoutbox):
    client, _ = signed_in()
    address = "/account/2fa/totp/activate/"
    asked = client.get(address)["Location"]
    page = client.post(asked, {"password": PASSWORD}, follow=True)
    secret = page.context["form"].secret
    client.post(address, {"code": code_for(secret)})
    client.post("/account/2fa/recovery-codes/generate/")
    client.post("/account/2fa/totp/deactivate/")
    subjects = [mail.subject for mail in mailoutbox]
    for mail in mailoutbox:
        plain(mail)
    assert "[Genie] Two-factor sign-in was turned on" in subjects
    assert "[Genie] Two-factor sign-in was turned off" in subjects
    assert "[Genie] New recovery codes were generated" in subjects


# Every mail that allauth can send with our settings, and what it is given.
EVERY = {
    "account/email/account_already_exists": {"password_reset_url": "https://a.example"},
    "account/email/email_changed": {"from_email": "a@b.example", "to_email": "c@d.example"},
    "account/email/email_confirmation": {"activate_url": "https://a.example"},
    "account/email/email_confirmation_signup": {"activate_url": "https://a.example"},
    "account/email/email_deleted": {"deleted_email": "a@b.example"},
    "account/email/password_changed": {},
    "account/email/password_reset": {},
    "account/email/password_reset_key": {"password_reset_url": "https://a.example"},
    "account/email/password_set": {},
    "account/email/unknown_account": {"signup_url": "https://a.example"},
    "mfa/email/recovery_codes_generated": {},
    "mfa/email/totp_activated": {},
    "mfa/email/totp_deactivated": {},
    "mfa/email/webauthn_added": {},
    "mfa/email/webauthn_removed": {},
    "socialaccount/email/account_connected": {"provider": "ORCID"},
    "socialaccount/email/account_disconnected": {"provider": "ORCID"},
}  # fmt: skip


@pytest.mark.parametrize("prefix", EVERY)
def test_every_mail_is_ours_and_names_are_only_text(prefix, mailoutbox, settings):
    for part in ("subject", "message"):
        origin = get_template(f"{prefix}_{part}.txt").origin.name
        assert origin.startswith(str(settings.BASE_DIR / "templates")), origin
    user = make_user("o'neil<b>")
    request = RequestFactory().get("/", headers={"User-Agent": "Firefox & Co"})
    request.user = user
    request.session = {}
    adapter = get_adapter()
    with context.request_context(request):
        given = {"user": user, "username": user.username, "provider": "x", "ip": "1.2.3.4",
                 "user_agent": "Firefox & Co", "timestamp": timezone.now(), **EVERY[prefix]}  # fmt: skip
        adapter.send_mail(prefix, "nina@heron.example", given)
    (mail,) = mailoutbox
    said = mail.body
    html = mail.alternatives[0][0]
    assert "neil<b>" not in html
    assert "Firefox & Co" not in html
    assert words_of(mail) == said.replace("\n--\n", " ").split()
    mail.body = said.replace("o'neil<b>", "").replace("Firefox & Co", "")
    mail.alternatives[0] = (
        html.replace("o&#x27;neil&lt;b&gt;", "").replace("Firefox &amp; Co", ""),
        "text/html",
    )
    plain(mail)
    assert all(str(value) in said for value in EVERY[prefix].values())


def test_no_mail_of_allauth_is_forgotten(settings):
    folder = Path(allauth.__file__).parent / "templates"
    stock = {
        str(path.relative_to(folder)).removesuffix("_subject.txt")
        for path in folder.glob("*/email/*_subject.txt")
    }
    off = {name for name in stock if "_code" in name}
    off -= {"mfa/email/recovery_codes_generated"}
    off |= {"account/email/email_confirm"}  # which it has, and never sends
    assert stock - off == set(EVERY)
