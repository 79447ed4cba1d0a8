"""What goes to Sentry names a place in the code, and nothing of anybody."""

from __future__ import annotations

import json
import logging
import sys

import pytest
from django.test import Client
from django_q import worker as queue_worker

from genie.lib.env import ConfigurationError
from genie.upkeep import sentry
from tests.factories import make_user

SECRET = "Ada's own text"


def set_dsn(settings):
    dsn = "https://key@sentry.invalid/1"
    settings.GENIE = {**settings.GENIE, "SENTRY_DSN": dsn}


@pytest.fixture
def sent(settings, monkeypatch):
    """Give the events that would go out, as they would."""
    sdk = pytest.importorskip("sentry_sdk")
    events = []

    class StandIn(sdk.transport.Transport):
        def capture_envelope(self, envelope):
            events.extend(json.loads(one.payload.get_bytes()) for one in envelope.items)

    set_dsn(settings)
    monkeypatch.setattr(queue_worker, "error_reporter", None)
    sentry.start(transport=StandIn)
    yield events
    sdk.get_client().close()
    sdk.get_global_scope().set_client(None)


@pytest.mark.django_db
def test_a_failing_page_is_sent_without_who_asked_and_what(sent, monkeypatch):
    def fails(**_):
        text = SECRET
        logging.getLogger("genie").error("It went wrong: %s", text)
        raise ValueError(text)

    client = Client(raise_request_exception=False)
    monkeypatch.setattr("genie.upkeep.views.examine", fails)
    client.force_login(make_user("boss", email="ada@x.org", is_superuser=True))
    answer = client.get(f"/admin/status/?q={SECRET}", headers={"X-Mine": SECRET})
    assert answer.status_code == 500
    logged, failed = sent
    assert logged["logentry"] == {"message": "It went wrong: %s"}
    [error] = failed["exception"]["values"]
    assert error["type"] == "ValueError"
    assert error["stacktrace"]["frames"][-1]["function"] == "fails"
    assert failed["transaction"] == "/admin/status/"
    for event in sent:
        said = json.dumps(event)
        assert not any(word in said for word in ("Ada's", "ada@", "boss", "X-Mine"))
        assert not {"request", "user", "extra", "breadcrumbs", "contexts"} & set(event)


def test_a_failing_job_is_sent_from_its_process(sent):
    try:
        raise LookupError(SECRET)
    except LookupError:
        queue_worker.error_reporter.report()  # as django-q2 does
    [event] = sent
    assert event["exception"]["values"][0]["type"] == "LookupError"
    assert SECRET not in json.dumps(event)


@pytest.mark.parametrize(
    "event",
    [
        {"transaction": f"/invited/{SECRET}", "transaction_info": {"source": "url"}},
        {
            "logger": "django.security.DisallowedRedirect",
            "logentry": {"message": SECRET},
        },
    ],
)
def test_what_only_looks_like_our_own_words_stays_here(event):
    assert SECRET not in json.dumps(sentry.scrubbed(event))


def test_without_a_dsn_nothing_is_even_loaded(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentry_sdk", None)
    sentry.start()


def test_a_dsn_without_the_library_is_said_at_the_start(settings, monkeypatch):
    set_dsn(settings)
    monkeypatch.setitem(sys.modules, "sentry_sdk", None)
    with pytest.raises(ConfigurationError, match=r"\[sentry\]"):
        sentry.start()
