"""What docs/tutorial-submit.md and docs/tutorial-api.md show, run as it stands there."""

import json
import re
import shlex
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.urls import resolve

from leaderboard.metric_runs import services
from leaderboard.models import Submission
from leaderboard.submissions.services import lifecycle
from leaderboard.tasks.shipped import FOLDER

DOCS = Path(__file__).resolve().parents[2] / "docs"
SITE = "https://genie.example"

pytestmark = pytest.mark.django_db(transaction=True)


def blocks(page, language):
    text = (DOCS / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def process():
    for submission in Submission.own:
        lifecycle.validate(submission.pk)
        services.run(submission.pk)


def test_a_system_is_submitted_as_shown(run, submitter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call_command("load_task", "demo-translation", verbosity=0)
    shipped = next(iter(sorted((FOLDER / "demo-translation/systems").glob("*.json"))))
    Path("predictions.json").write_bytes(shipped.read_bytes())
    install, login, *lines = "".join(blocks("tutorial-submit.md", "sh")).splitlines()
    # what tests do before: the client is installed, and `run` is signed in
    assert (install, login) == (
        "pip install ./client",
        f"genie-client --site {SITE} login",
    )
    assert [line.split()[1] for line in lines] == [
        "download", "validate", "submit", "mine", "status",
    ]  # fmt: skip
    for line in lines:
        _, name, *words = shlex.split(line)
        if name == "status":
            process()
            words[0] = str(Submission.own.get().pk)
        code, said, errors = run(name, *words)
        assert code == 0, errors
    assert "My-System" in said
    ids = set(json.loads(shipped.read_text("utf-8")))
    assert set(json.loads(Path("sample.json").read_text("utf-8"))) == ids


def test_the_tutorials_script_submits(live_server, secret, monkeypatch, capsys):
    call_command("load_task", "demo-qa", verbosity=0)
    capsys.readouterr()
    monkeypatch.setenv("GENIE_TOKEN", secret)
    names: dict[str, object] = {}
    read, submit, wait = blocks("tutorial-api.md", "python")
    for code in (read, submit):
        exec(code.replace(SITE, live_server.url), names)
    process()
    exec(wait, names)
    assert capsys.readouterr().out.startswith("MEASURED [] {")
    assert Submission.own.get().system_name == "Shrug"


def test_addresses_asked_with_curl_are_there():
    shown = "".join(blocks("tutorial-api.md", "sh"))
    addresses = re.findall(rf"{SITE}(\S+?)[\"\n]", shown)
    assert len(addresses) == 4
    assert [
        a for a in addresses if resolve(urlsplit(a).path).url_name == "nowhere"
    ] == []
