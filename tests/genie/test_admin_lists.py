"""Lists of the admin count no further than they must, and say so."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from genie.lib.admin import lists
from tests.factories import make_worker

pytestmark = pytest.mark.django_db
WORKERS = "admin:crowd_worker_changelist"


@pytest.fixture
def office():
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("boss"))
    return client


def text_of(response):
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", response.content.decode()))


def test_a_short_list_is_counted_to_the_end(office):
    make_worker()
    make_worker()
    assert "2 workers" in text_of(office.get(reverse(WORKERS)))


def test_a_long_list_says_that_there_are_more(office, monkeypatch):
    monkeypatch.setattr(lists, "COUNTED", 150)
    for _ in range(151):
        make_worker()
    page = text_of(office.get(reverse(WORKERS)))
    assert "150+ workers" in page
    assert "Select all 150+ workers" in page
    assert office.get(reverse(WORKERS), {"p": 2}).status_code == 200
    found = office.get(reverse(WORKERS), {"q": make_worker(name="Wanda").pseudonym})
    assert "1 worker " in text_of(found)


def test_workers_can_be_sorted_by_how_much_they_sent_in(office):
    make_worker()
    for column in range(1, 11):
        assert office.get(reverse(WORKERS), {"o": column}).status_code == 200
