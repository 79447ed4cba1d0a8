"""The commands of docs/backup.md, run as they stand there: back up, lose all, restore."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import own_database, put_migrated_sqlite

ROOT = Path(__file__).resolve().parent.parent
# A published board, money paid and owed, a requester with a key and a deposit.
MAKE = """
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from crowd.requester.services import access_keys
from crowd.requester.models import Requester
from crowd.models import LedgerEntry
from tests.factories import *
ada, boss = make_user("ada"), make_user("boss")
task, team = make_task(), make_team("Herons", ada)
system = make_ranked(task, 70, team=team, owner=ada)
make_ranked(task, 60, team=team, owner=ada, system="Owl")
content = ContentFile(b"[]")
from leaderboard.submissions.services.submit import store
stored = store(content)
type(system).objects.update(file=stored.name, file_sha256=stored.sha256, file_bytes=2)
campaign = system.human_evaluation.campaign
for n, state in enumerate(["DONE", "PLANNED"]):
    done = answer(make_item(campaign, f"more-{n}"), make_worker(name=f"w{n}"))
    pay(done, 9, state=state)
LedgerEntry.objects.filter(state="DONE").update(done_at=ada.date_joined)
rita = Requester.objects.create(name="Rita")
access_keys.create_key(rita, boss)
access_keys.deposit(rita, 500, key="first", by=boss)
"""
LOOK = """
import json
from django.test import Client
from crowd.models import AccessKey, LedgerEntry
from crowd.requester.services.access_keys import live_secrets
from crowd.requester.services.money import account
from leaderboard.models import Submission
client = Client(headers={"host": "localhost"})
key = AccessKey.objects.get()
print("FACTS" + json.dumps({
    "board": client.get("/api/v1/tasks/tidy-news/leaderboard/").json(),
    "ledger": list(LedgerEntry.objects.values_list("kind", "state", "amount_cents")),
    "account": str(account(key.requester)),
    "secrets": live_secrets(key.key_id),
    "files": [s.file.read().decode() for s in Submission.objects.all()],
}))
"""


def commands(heading: str, *labels: str) -> list[str]:
    text = (ROOT / "docs/backup.md").read_text("utf-8")
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"^([^\n]+):\n\n```sh\n(.*?)```", section, re.M | re.S)
    chosen = [block for start, block in blocks if start.startswith(labels)]
    assert len(chosen) == len(labels)
    return chosen


def put_genie(folder: Path) -> Path:
    """Put the command `genie` of this tree into a folder, installed or not."""
    folder.mkdir()
    command = folder / "genie"
    python = f"exec '{sys.executable}' -c 'from genie.command import main; main()'"
    command.write_text(f'#!/bin/sh\n{python} "$@"\n', "utf-8")
    command.chmod(0o755)
    return folder


def run(folder: Path, env: dict[str, str], *lines: str) -> str:
    output = ""
    for line in lines:
        done = subprocess.run(
            ["sh", "-euc", line],
            cwd=folder, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        output += done.stdout
    return output


@pytest.mark.slow
def test_what_the_page_says_brings_board_money_and_keys_back(tmp_path):
    var = tmp_path / "data"
    with own_database("backup") as old, own_database("restored", empty=True) as new:
        env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("GENIE_")},
            "DJANGO_SETTINGS_MODULE": "genie.settings",
            "GENIE_VAR": str(var),
            "GENIE_LOG_LEVEL": "ERROR",
            "DATABASE_URL": old,
            "PATH": f"{put_genie(tmp_path / 'bin')}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        }
        if not old:
            put_migrated_sqlite(var / "genie.sqlite3")
        facts = f"genie shell --no-imports -c '{MAKE}{LOOK}'"
        before = run(tmp_path, env, facts).partition("FACTS")[2]
        run(tmp_path, env, *commands("Back up", "The site and", "The key"))

        shutil.rmtree(var)
        env["DATABASE_URL"] = new
        parts = commands("Restore", "The key", "The database")
        run(tmp_path, env, *parts)
        after = run(tmp_path, env, f"genie shell --no-imports -c '{LOOK}'")
        assert json.loads(after.partition("FACTS")[2]) == json.loads(before)
        assert json.loads(before)["secrets"]

        # going back after an upgrade; a table that is too much is gone with it
        more = 'connection.cursor().execute("create table too_much (a integer)")'
        shell = "from django.db import connection; "
        run(tmp_path, env, f"genie shell --no-imports -c '{shell}{more}'")
        run(tmp_path, env, "genie restore --replace site.genie-backup")
        look = 'assert "too_much" not in connection.introspection.table_names()'
        again = run(
            tmp_path, env, f"genie shell --no-imports -c '{shell}{look}\n{LOOK}'"
        )
        assert json.loads(again.partition("FACTS")[2]) == json.loads(before)
        doctor = subprocess.run(
            ["sh", "-c", "genie doctor"],
            cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        wrong = [
            line.split()[1]
            for line in doctor.stdout.splitlines()
            if line.startswith("problem")
        ]
        assert wrong == ["queue"], doctor.stdout + doctor.stderr
