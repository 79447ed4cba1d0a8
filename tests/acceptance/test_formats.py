"""Third-party libraries read what Genie writes in their formats."""

import csv

import pytest

from leaderboard.releases.make import make
from tests.leaderboard.releases.test_releases_are_made_and_rebuilt import (
    genies_detector,  # noqa: F401
    task,  # noqa: F401
)
from tests.leaderboard.teams.test_webhooks_and_notices import (
    _server,  # noqa: F401
    go,
    heron,  # noqa: F401
    hook,  # noqa: F401
    kite,  # noqa: F401
    nina,  # noqa: F401
    server,  # noqa: F401
    tell_all,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def test_mlcroissant_reads_a_release(importable, task, tmp_path):  # noqa: F811
    import mlcroissant

    make(task, tmp_path / "release")
    dataset = mlcroissant.Dataset(tmp_path / "release/croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    for table in dataset.metadata.record_sets:
        rows = list(dataset.records(table.uuid))
        with (tmp_path / f"release/{table.name}.csv").open(newline="") as file:
            assert len(rows) == sum(1 for _ in csv.DictReader(file)), table.name


def test_standardwebhooks_verifies_a_delivery(importable, server, hook, kite):  # noqa: F811
    from standardwebhooks import Webhook

    go(kite, "VALID")
    tell_all()
    [(_, headers, body)] = server.seen
    assert Webhook(hook.secret).verify(body, headers)["type"] == "submission.valid"
    with pytest.raises(Exception, match="signature"):
        Webhook(hook.secret).verify(body + b" ", headers)
