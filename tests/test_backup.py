"""The commands of docs/backup.md, run as they stand there: back up, lose all, restore."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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
from leaderboard.evaluation.services import public_log
public_log.scores(type(system.scores.get()).objects.all())
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


def machine(folder: Path, database: str) -> dict[str, str]:
    """Return the environment of a machine, whose folder also holds its `genie`."""
    folder.mkdir(exist_ok=True)
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("GENIE_")},
        "DJANGO_SETTINGS_MODULE": "genie.settings",
        "GENIE_VAR": str(folder / "data"),
        "GENIE_LOG_LEVEL": "ERROR",
        "DATABASE_URL": database,
        "PATH": f"{put_genie(folder / 'bin')}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }


def fill(folder: Path, env: dict[str, str]) -> dict[str, Any]:
    if not env["DATABASE_URL"]:
        put_migrated_sqlite(folder / "data" / "genie.sqlite3")
    return look(folder, env, MAKE)


def look(folder: Path, env: dict[str, str], make: str = "") -> dict[str, Any]:
    words = f"genie shell --no-imports -c '{make}{LOOK}'"
    return json.loads(run(folder, env, words).partition("FACTS")[2])


def tried(folder: Path, env: dict[str, str], line: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["sh", "-euc", line],
        cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip


def run(folder: Path, env: dict[str, str], *lines: str) -> str:
    output = ""
    for line in lines:
        done = tried(folder, env, line)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        output += done.stdout
    return output


@pytest.mark.slow
def test_another_machine_with_other_keys_restores_what_one_backed_up(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    with own_database("backup") as old, own_database("restored", empty=True) as new:
        first, second = machine(here, old), machine(there, new)
        before = fill(here, first)
        file, began = f"'{tmp_path}/site'", time.monotonic()
        run(here, first, f"genie backup {file}")
        keys = "from genie.upkeep.backup import site_keys; site_keys()"
        run(there, second, f"genie shell --no-imports -c '{keys}'")
        refused = tried(there, second, f"genie restore {file}")
        assert "key differs from the backup" in refused.stderr
        run(there, second, f"genie restore --other-key {file}", "genie migrate")
        print(f"\nbackup and restore: {time.monotonic() - began:.0f} s")
        assert time.monotonic() - began < 120
        assert look(there, second) == before | {"secrets": []} != before
        if old:
            second["DATABASE_URL"] = ""
            refused = tried(there, second, f"genie restore --other-key {file}")
            assert "was made on postgresql" in refused.stderr


@pytest.mark.slow
def test_what_the_page_says_brings_board_money_and_keys_back(tmp_path):
    var = tmp_path / "data"
    with own_database("backup") as old, own_database("restored", empty=True) as new:
        env = machine(tmp_path, old)
        before = fill(tmp_path, env)
        run(tmp_path, env, *commands("Back up", "The site and", "The key"))

        shutil.rmtree(var)
        env["DATABASE_URL"] = new
        parts = commands("Restore", "The key", "The database")
        run(tmp_path, env, *parts)
        assert look(tmp_path, env) == before
        assert before["secrets"]

        # going back after an upgrade; a table that is too much is gone with it
        more = 'connection.cursor().execute("create table too_much (a integer)")'
        shell = "from django.db import connection; "
        run(tmp_path, env, f"genie shell --no-imports -c '{shell}{more}'")
        run(tmp_path, env, "genie restore --replace site.genie-backup")
        gone = 'assert "too_much" not in connection.introspection.table_names()\n'
        assert look(tmp_path, env, f"{shell}{gone}") == before
        doctor = tried(tmp_path, env, "genie doctor")
        wrong = re.findall(r"^problem\S* +(\S+)", doctor.stdout, re.M)
        assert wrong == ["queue"], doctor.stdout + doctor.stderr
