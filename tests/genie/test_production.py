"""The settings that the documentation gives for production hold what it says."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from tests.factories import make_user

ROOT = Path(__file__).resolve().parents[2]


def documented() -> dict[str, str]:
    """Read the block of settings in docs/operating.md."""
    text = (ROOT / "docs/operating.md").read_text("utf-8")
    block = text.split("## In production", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^    ([A-Z_]+)=(\S+)$", block, re.M))


def test_the_deployment_check_has_nothing_to_say(tmp_path):
    key = tmp_path / "key"
    key.write_text(secrets.token_urlsafe(50))
    shown = documented()
    assert {"GENIE_PRODUCTION", "GENIE_SECRET_KEY_FILE", "GENIE_HOSTS"} <= set(shown)
    # what another machine has: a secret of its own, and no PostgreSQL to ask
    own = {
        "GENIE_SECRET_KEY_FILE": str(key),
        "GENIE_VAR": str(tmp_path),
        "DATABASE_URL": "",
    }
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GENIE_", "DJANGO_"))
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={**kept, **shown, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    ["/", "/login/", "/account/signup/", "/account/", "/admin/", "/admin/auth/user/add/",
     "/api/docs/", "/api/v1/tasks/", "/nowhere/", "/work/"],
)  # fmt: skip
def test_no_page_allows_anything_inline_or_of_elsewhere(path):
    client = Client()
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    answer = client.get(path)
    policy = answer.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    if answer["Content-Type"].startswith("text/html"):
        page = answer.text
        inline = re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", page)
        assert inline == []
        assert not re.search(r"\son[a-z]+=\"|\sstyle=\"|javascript:", page)
        assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=\"https?:", page)


def test_a_server_knows_its_pages_before_the_first_visitor():
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, genie.wsgi; print('leaderboard.views.tasks' in sys.modules)",
        ],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "True"
