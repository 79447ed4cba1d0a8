"""A site backed up by 0.1.0 is restored and migrated by today's code, and answers as then.

`releases/0.1.0/made-by.txt` is the script that made it, once.
"""

import json
import lzma
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from genie.lib import jobs
from tests.nets.releases import lost
from tests.shared import put_migrated_sqlite
from tests.test_backup import machine, run, tried

BASE = Path(__file__).parent / "releases/0.1.0"
ROLES = {"visitor": None, "submitter": "nina", "worker": "vic", "superuser": "boss"}


@pytest.mark.slow
def test_a_site_of_0_1_0_is_upgraded(tmp_path):
    env, new = machine(tmp_path, ""), tmp_path / "new.sqlite3"
    run(tmp_path, env, f"genie restore '{BASE}/site.genie-backup'", "genie migrate")
    put_migrated_sqlite(new)
    # otherwise a migration of 0.1.0 was edited
    assert tables(tmp_path / "data/genie.sqlite3") == tables(new)
    doctor = tried(tmp_path, env, "genie doctor").stdout
    wrong = [line.split()[1] for line in doctor.splitlines() if line[:7] == "problem"]
    assert wrong == ["queue"], doctor
    check = "from tests.nets.test_releases import check; check()"
    run(tmp_path, env, f"genie shell --no-imports -c '{check}'")
    releases = sorted((tmp_path / "data/media/releases").iterdir())
    rebuilt = run(tmp_path, env, *(f"genie rebuild '{path}'" for path in releases))
    assert rebuilt.count("numbers match the published ones") == len(releases) == 2


def tables(file: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("select name, sql from sqlite_master order by name")
        return rows.fetchall()


def check() -> None:
    """Check that the site of this process answers as it did when 0.1.0 made it."""
    for path, (role, before) in kept("answers.json.xz").items():
        answer = ask(role, path)
        assert answer.status_code == 200, path
        assert before is None or not [*lost(before, answer.json(), path)]


def kept(name: str) -> dict:
    return json.loads(lzma.decompress((BASE / name).read_bytes()))


def ask(role: str, path: str):
    client = Client(headers={"host": "localhost"}, raise_request_exception=False)
    if name := ROLES[role]:
        client.force_login(get_user_model().objects.get(username=name))
    answer = client.get(path)
    if answer.status_code == 202:  # a job makes this file
        jobs.drain()
        answer = client.get(path)
    return answer
