"""The settings that the documentation gives for production hold what it says."""

import os
import re
import secrets
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest
from django.test import Client

from genie import checks
from tests.factories import make_user, signed_in

ROOT = Path(__file__).resolve().parents[2]


def documented() -> dict[str, str]:
    text = (ROOT / "docs/operating.md").read_text("utf-8")
    block = text.split("## In production", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^([A-Z_]+)=(\S+)$", block, re.M))


@pytest.mark.slow
def test_the_deployment_check_has_nothing_to_say(tmp_path):
    shown = documented()
    assert {"GENIE_PRODUCTION", "GENIE_SECRET_KEY_FILE", "GENIE_HOSTS"} <= set(shown)
    key = tmp_path / "key"
    key.write_text(secrets.token_urlsafe(50))
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


@pytest.fixture
def deployed(settings, monkeypatch):
    settings.EMAIL_BACKEND = checks._SMTP
    settings.DEFAULT_FROM_EMAIL = "Genie <genie@genie.example>"
    settings.ALLOWED_HOSTS = ["genie.example"]
    settings.GENIE = {**settings.GENIE, "SITE_URL": "https://genie.example"}
    monkeypatch.setenv("GENIE_PROXIES", "0")
    assert checks.deployment(None) == []
    return settings


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("EMAIL_BACKEND", "django.core.mail.backends.filebased.EmailBackend", "E001"),
        ("EMAIL_BACKEND", "django.core.mail.backends.console.EmailBackend", "E001"),
        ("DEFAULT_FROM_EMAIL", "genie@localhost", "E002"),
        ("DEFAULT_FROM_EMAIL", "Genie <genie@localhost>", "E002"),
        ("ALLOWED_HOSTS", ["genie.example", "*"], "E003"),
        ("SITE_URL", "http://localhost:8000", "E004"),
        ("SITE_URL", "http://genie.example", "E004"),
        ("SITE_URL", "https://other.example", "E004"),
        ("SECURE_HSTS_PRELOAD", True, "E006"),
        ("REQUESTER_ORIGIN", "http://pages.example", "E007"),
        ("REQUESTER_ORIGIN", "https://genie.example:8443", "E007"),
    ],
)
def test_a_setting_that_fails_silently_is_refused(deployed, name, value, code):
    if name in deployed.GENIE:
        deployed.GENIE = {**deployed.GENIE, name: value}
    else:
        setattr(deployed, name, value)
    assert [problem.id for problem in checks.deployment(None)] == [f"genie.{code}"]


def test_preloading_is_taken_with_a_year_and_all_subdomains(deployed):
    deployed.SECURE_HSTS_PRELOAD = deployed.SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    deployed.SECURE_HSTS_SECONDS = 31_536_000
    assert checks.deployment(None) == []


def test_browsers_insist_on_https_for_an_hour_unless_told_otherwise(
    monkeypatch, settings, tmp_path
):
    def header(**env):
        own = {"GENIE_VAR": str(tmp_path), "GENIE_PRODUCTION": "yes", **env}
        for name, value in own.items():
            monkeypatch.setenv(name, value)
        for name, value in run_path(str(ROOT / "genie/settings.py")).items():
            if name.startswith("SECURE_"):
                setattr(settings, name, value)
        return Client().get("/robots.txt", secure=True)["Strict-Transport-Security"]

    assert header() == "max-age=3600"
    whole = {"GENIE_HSTS_SUBDOMAINS": "yes", "GENIE_HSTS_PRELOAD": "yes"}
    assert header(GENIE_HSTS_SECONDS="31536000", **whole) == (
        "max-age=31536000; includeSubDomains; preload"
    )


@pytest.mark.parametrize(
    "path",
    ["/", "/login/", "/account/signup/", "/account/", "/admin/", "/admin/auth/user/add/",
     "/api/docs/", "/api/v1/tasks/", "/nowhere/", "/work/"],
)  # fmt: skip
def test_no_page_allows_anything_inline_or_of_elsewhere(path):
    client = signed_in(make_user("ada", is_staff=True, is_superuser=True))
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
        # addresses of the page itself and of its feed are whole, and fetch nothing
        fetched = re.sub(r"<link rel=\"(?:canonical|alternate)\"[^>]*>", "", page)
        assert not re.search(
            r"<(?:script|link|img)[^>]+(?:src|href)=\"https?:", fetched
        )
