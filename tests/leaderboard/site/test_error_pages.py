"""Pages for what goes wrong: they say what happened and what to do."""

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpRequest
from django.test import Client
from django.urls import include, path

from tests.each import each


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


@each(
    ("address", "status", "sentence"),
    [
        ("/nowhere/", 404, "Page not found"),
        ("/submissions/99999999999999999999/", 404, "Page not found"),
        ("/work/nowhere/", 404, "this HIT is no longer assigned to you"),
        ("/denied/", 403, "You do not have permission to do that"),
        ("/suspicious/", 400, "We could not read this request"),
        ("/fails/", 500, "Something went wrong on our side"),
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
    assert "The user name and password do not match." in read(wrong)

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

    assert nina.get("/logout/")["Location"] == "/"
    assert nina.get("/submissions/").status_code == 200
    assert nina.post("/logout/")["Location"] == "/"
    assert nina.get("/submissions/").status_code == 302


def test_only_staff_are_shown_the_way_to_the_staff_pages(client_of):
    assert "Staff" not in client_of("submitter").get("/").content.decode()
    assert "Staff" in client_of("staff").get("/").content.decode()
