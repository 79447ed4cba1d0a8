"""The commands of docs/backup.md, run as they stand there: back up, lose all, restore."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import own_database, put_migrated_sqlite

ROOT = Path(__file__).resolve().parent.parent
MAKE = """
from django.contrib.auth import get_user_model
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
get_user_model().objects.create_user("ada", password="s3cret-enough")
default_storage.save("submissions/ab/predictions.json", ContentFile(b"{}"))
"""
LOOK = """
from django.contrib.auth import get_user_model
from django.core.files.storage import default_storage
assert get_user_model().objects.get().username == "ada"
assert default_storage.open("submissions/ab/predictions.json").read() == b"{}"
"""


def commands(heading: str, *labels: str) -> list[str]:
    """Give the blocks of a section, each known by how the line before it begins."""
    text = (ROOT / "docs/backup.md").read_text("utf-8")
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"^([^\n]+):\n\n```sh\n(.*?)```", section, re.M | re.S)
    chosen = [block for start, block in blocks if start.startswith(labels)]
    assert len(chosen) == len(labels)
    return chosen


def run(folder: Path, env: dict[str, str], *lines: str) -> None:
    for line in lines:
        done = subprocess.run(
            ["sh", "-euc", line],
            cwd=folder, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.slow
def test_what_the_page_says_brings_everything_back(tmp_path):
    for name in ("manage.py", "genie", "crowd", "quality", "leaderboard", "templates",
                 "static"):  # fmt: skip
        (tmp_path / name).symlink_to(ROOT / name)
    var = tmp_path / "data"
    with (
        own_database("backup") as old,
        own_database("restored", empty=True) as new,
    ):
        env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("GENIE_")},
            "DJANGO_SETTINGS_MODULE": "genie.settings",
            "GENIE_VAR": str(var),
            "GENIE_LOG_LEVEL": "ERROR",
            "DATABASE_URL": old,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        database = "With PostgreSQL" if old else "With SQLite"
        parts = (database, "The uploads", "The key")
        shell = "python manage.py shell --no-imports -c "
        if old:
            run(tmp_path, env, "python manage.py migrate --verbosity 0")
        else:
            put_migrated_sqlite(var / "genie.sqlite3")
        run(tmp_path, env, f"{shell}'{MAKE}'")
        key = (var / "secret-key").read_text()
        run(tmp_path, env, *commands("Back up", *parts))

        shutil.rmtree(var)
        env["DATABASE_URL"] = new
        run(tmp_path, env, *commands("Restore", *parts, "Then apply the migrations"))
        run(tmp_path, env, f"{shell}'{LOOK}'")
        assert (var / "secret-key").read_text() == key
