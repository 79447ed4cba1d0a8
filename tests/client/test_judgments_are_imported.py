"""Judgments made elsewhere, sent by a program and followed to their board."""

from __future__ import annotations

import pytest

from genie.accounts import tokens
from genie.accounts.models import AccessToken
from genie.lib import jobs
from leaderboard.models import Import, Task
from tests.leaderboard.studio.test_imports import table

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_dry_run_then_a_board(live_server, superuser, tmp_path, monkeypatch):
    from genie_client import importing
    from genie_client.client import Client

    monkeypatch.setattr(importing.time, "sleep", lambda seconds: jobs.drain())
    secret = tokens.issue(
        superuser, name="client", scopes=[*AccessToken.Scope], days=None
    )[1]
    file = tmp_path / "ratings.csv"
    file.write_bytes(table())
    site = Client(live_server.url, secret)
    looked = site.import_judgments("old", file, dry_run=True)
    assert (looked["state"], looked["error"]) == ("read", "")
    assert not Task.objects.exists()
    known = {"pay": "12 euros an hour"}
    made = site.import_judgments("old", file, source="a paper", known=known)
    assert made["html_url"] == f"{live_server.url}/tasks/old/"
    assert Import.objects.get().known == known
