"""What a process loads before anybody asks it for a statistic."""

import json
import os
import subprocess
import sys

import pytest

from tests.shared import ROOT, put_migrated_sqlite

# The heaviest libraries, each of which only some of the work needs.
LATE = {
    "pandas", "scipy", "matplotlib", "sacrebleu", "nltk", "rouge_score",
    "boto3", "botocore", "markdown_it", "requests", "jinja2", "pygments",
    "torch", "transformers",
}  # fmt: skip

# One process does what a web server, a queue and a check begin with.
CODE = """
import json, sys
from genie.wsgi import application
assert "leaderboard.boards.views.tasks" in sys.modules  # before the first visitor
from django.test import Client
for address in ("/healthz", "/"):
    assert Client().get(address, headers={"host": "localhost"}).status_code == 200
import django_q.cluster
from django.utils.module_loading import import_string
from genie.schedules import SCHEDULES
for line in SCHEDULES:
    import_string(line.job)
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "check"])
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.slow
def test_heavy_libraries_are_loaded_only_when_they_are_needed(tmp_path):
    put_migrated_sqlite(tmp_path / "genie.sqlite3")
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "genie.settings",
        "DATABASE_URL": f"sqlite:///{tmp_path / 'genie.sqlite3'}",
        "GENIE_VAR": str(tmp_path),
        "GENIE_DEBUG": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=ROOT, env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert "leaderboard.models" in loaded
    assert LATE & set(loaded) == set()
