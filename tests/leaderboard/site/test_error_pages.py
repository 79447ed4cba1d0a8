"""Pages for what goes wrong: they say what happened and what to do."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpRequest
from django.test import Client
from django.urls import include, path


def _fail(request: HttpRequest):
    raise RuntimeError("the machine stops")


def _deny(request: HttpRequest):
    raise PermissionDenied


def _suspect(request: HttpRequest):
    raise SuspiciousOperation


urlpatterns = [
    path("fails/", _fail),
    path("denied/", _deny),
    path("suspicious/", _suspect),
    path("", include("genie.urls")),
]


@pytest.mark.parametrize(
    ("address", "status", "sentence"),
    [
        ("/nowhere/", 404, "There is nothing here"),
        ("/submissions/99999999999999999999/", 404, "There is nothing here"),
        ("/work/nowhere/", 404, "that piece of work is no longer yours"),
        ("/denied/", 403, "This account may not do that"),
        ("/suspicious/", 400, "The request could not be read"),
        ("/fails/", 500, "Something broke on our side"),
    ],
)
@pytest.mark.urls(__name__)
def test_each_error_has_a_page_that_helps(db, read, address, status, sentence):
    client = Client(raise_request_exception=False)

    response = client.get(address)

    assert response.status_code == status
    assert sentence in read(response)
    assert "the machine stops" not in response.content.decode()
    assert "genie.css" in response.content.decode()


def test_signing_in_leads_on_and_a_wrong_password_says_so(cast, client, read):
    wrong = client.post("/login/", {"login": "nina", "password": "guess"})
    assert "Name and password do not fit together." in read(wrong)

    right = client.post(
        "/login/?next=/tasks/", {"login": "nina", "password": "a long enough secret"}
    )
    assert right["Location"] == "/tasks/"
    outside = client.post(
        "/login/?next=https://elsewhere.example/",
        {"login": "nina", "password": "a long enough secret"},
    )
    assert outside["Location"] == "/submissions/"


def test_signing_out_takes_a_form_not_a_link(client_of):
    nina = client_of("submitter")

    assert nina.get("/logout/").status_code == 405
    assert nina.post("/logout/")["Location"] == "/"
    assert nina.get("/submissions/").status_code == 302


def test_only_staff_are_shown_the_way_to_the_staff_pages(client_of):
    assert "Staff" not in client_of("submitter").get("/").content.decode()
    assert "Staff" in client_of("staff").get("/").content.decode()
