"""docs/client.ipynb, cell by cell, against a site that answers."""

import json
from pathlib import Path

import pytest

from genie.accounts import tokens
from genie.lib import jobs
from leaderboard.models import Submission
from tests.client.conftest import CLIENT
from tests.factories import make_predictions, make_ranked, make_task

pytestmark = pytest.mark.django_db(transaction=True)
NOTEBOOK = CLIENT.parent / "docs" / "client.ipynb"


def test_every_cell_runs(team, submitter, live_server, monkeypatch, tmp_path):
    who = {"team": team, "owner": submitter}
    task = make_task("demo-translation")
    for mean, name in ((80, "Kite"), (60, "Wren")):
        make_predictions(make_ranked(task, mean, system=name, **who))
    scopes = ["read", "submit", "withdraw"]
    secret = tokens.issue(submitter, name="notebook", scopes=scopes, days=None)[1]
    monkeypatch.setenv("GENIE_SITE", live_server.url)
    monkeypatch.setenv("GENIE_TOKEN", secret)
    monkeypatch.chdir(tmp_path)
    cells = [
        "".join(cell["source"])
        for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    names: dict[str, object] = {}
    for number, source in enumerate(cells):
        exec(compile(source, f"{NOTEBOOK.name}, cell {number}", "exec"), names)
        jobs.drain()
    assert Path("predictions.json").exists()
    assert names["checked"]["valid"]
    assert names["measured"]["state"] == "MEASURED"
    made = Submission.objects.get(pk=names["made"]["id"])
    assert made.state == "MEASURED"
    assert list(made.events.values_list("state", flat=True)[3:]) == [
        "WITHDRAWN",
        "MEASURED",
    ]
