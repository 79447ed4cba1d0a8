"""Whoever starts a new site makes its first staff account with a link that works once."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

import pytest
from django.contrib.auth import get_user_model
from django.core import signing
from django.db import connections
from django.test import Client
from django.urls import reverse

from genie.accounts import first_staff

WORDS = {
    "username": "nina",
    "email": "nina@example.org",
    "password1": "a kite in the wind",
    "password2": "a kite in the wind",
}


def test_the_link_makes_an_account_that_may_do_everything_and_signs_it_in(
    client, without_decoys
):
    way = first_staff.way()
    assert "Set up this site" in client.get(way).text
    page = client.post(way, WORDS, follow=True)
    nina = get_user_model().own.get()
    assert (nina.is_staff, nina.is_superuser) == (True, True)
    assert page.wsgi_request.user == nina
    assert "First steps" in page.text
    assert "/studio/new/" in page.text.partition("First steps")[2]
    assert client.get(reverse("admin:index")).status_code == 200
    # and signs in later like everybody
    again = Client().post(
        reverse("login"), {"login": "nina", "password": WORDS["password1"]}
    )
    assert again.status_code == 302


@pytest.mark.every_engine
def test_it_works_once(client):
    way, other = first_staff.way(), first_staff.way()
    client.post(way, WORDS)
    for path in (way, other):
        answer = Client().post(path, {**WORDS, "username": "eve"})
        assert answer.url == reverse("login")
    assert get_user_model().own.count() == 1
    assert not first_staff.is_wanted()


@pytest.mark.parametrize("wrong", [{"password2": "x"}, {"email": ""}, {"username": ""}])
def test_what_is_wrong_is_said_and_nothing_made(client, wrong):
    assert client.post(first_staff.way(), {**WORDS, **wrong}).status_code == 400
    assert not get_user_model().own.exists()


def test_only_links_of_this_site_and_of_this_day_are_good(client, monkeypatch):
    assert client.get(reverse("accounts:set-up", args=["made-up"])).status_code == 404
    monkeypatch.setattr(signing.time, "time", lambda: 1_000_000_000)
    old = first_staff.way()
    monkeypatch.undo()
    assert client.get(old).status_code == 404
    other = reverse("accounts:set-up", args=[signing.dumps("staff", salt="another")])
    assert client.get(other).status_code == 404


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_two_who_send_the_form_at_once_make_one_account(monkeypatch):
    barrier = Barrier(2, timeout=2)
    really = first_staff.is_wanted

    def slowly():
        """Let both look before either has written, where nothing keeps them apart."""
        wanted = really()
        with suppress(BrokenBarrierError):
            barrier.wait()
        return wanted

    monkeypatch.setattr(first_staff, "is_wanted", slowly)

    def make(name):
        form = first_staff.FirstStaffForm({**WORDS, "username": name})
        try:
            assert form.is_valid()
            first_staff.make(form)
        except first_staff.TooLate:
            return "too late"
        finally:
            connections.close_all()
        return "made"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(make, ("nina", "eve"))) == ["made", "too late"]
    assert get_user_model().objects.filter(is_superuser=True).count() == 1
