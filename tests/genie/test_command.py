"""`genie`: every command by its name, and a help that begins at the beginning."""

import io
import os
import socket
import subprocess
import sys
from unittest.mock import Mock, patch

import pytest
from django import get_version
from django.core.management import BaseCommand, ManagementUtility, get_commands
from django.db import OperationalError

from genie import command
from genie.lib import site_address
from genie.lib.serving import local_site
from genie.management.commands import up
from tests.installed import ROOT


def test_the_help_names_every_command_of_ours_and_only_what_exists():
    known = {name.replace("_", "-") for name in get_commands()}
    text = command.overview()
    for name in command._ours():
        assert name in known
        assert name in text
    shown = [line.split()[0] for line in text.splitlines() if line.startswith("  ")]
    assert set(shown) <= known
    assert shown[:2] == ["up", "demo"]
    # `runserver` prints it as Django's
    assert BaseCommand().get_version() == get_version()


@pytest.mark.parametrize("words", [[], ["help"], ["--help"]])
def test_the_help_comes_without_loading_django(words):
    code = (
        f"import sys; sys.argv[1:] = {words!r}; from genie.command import main; main();"
        "print('loaded' if 'django.core' in sys.modules else 'quick')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert "create a site in this folder" in done.stdout
    assert done.stdout.endswith("quick\n")


@pytest.mark.parametrize(
    ("word", "raised", "said"),
    [
        ("stats", KeyboardInterrupt(), "130"),
        ("stats", OSError(13, "Denied", "x"), "genie stats: x: Denied."),
        ("stats", FileNotFoundError(2, "No"), f"genie stats: {command._GONE}"),
        ("stats", OperationalError("a\nb"), "The database cannot be used (a b)."),
        ("migrate", OperationalError("no such table"), "used (no such table)."),
    ],
)
def test_a_failure_is_one_sentence(monkeypatch, word, raised, said):
    monkeypatch.setattr(sys, "argv", ["genie", word])
    execute = patch.object(ManagementUtility, "execute", side_effect=raised)
    with execute, pytest.raises(SystemExit) as stopped:
        command.main()
    assert said in str(stopped.value.code)


TABLE = "system,instance,worker,value\na,1,x,3\na,2,y,4\nb,1,x,2\nb,2,y,1\n"


@pytest.mark.parametrize(
    ("words", "code", "said", "unsaid"),
    [
        (["stats", "--help"], 0, "--version", "--settings --pythonpath --no-color"),
        (["migrate", "--help"], 0, "--fake", "--settings --traceback --verbosity"),
        (["collectstatic", "--help"], 0, "--clear", "--settings --skip-checks"),
        (["demo", "--nosuch"], 2, "unrecognized arguments: --nosuch", "starting"),
        (["up", "--port", "99999"], 1, "port must be 0-65535", "starting Traceback"),
        (["backup", "-"], 2, "standard output; name a file", "Traceback"),
        (["restore", "-"], 2, "from standard input or", "Traceback"),
        (["release", "demo-qa", "--out", "-"], 2, "standard output; name", "there"),
        (["new", "x", "--save", "-"], 2, "standard output; name a file", "Traceback"),
        (["new", "x" * 300], 1, "choose 1 to 100 files", "long"),
        (["stats", "-", "--json", "/dev/full"], 1, "cannot be written", "Traceback"),
        (["stats", "--version"], 0, "0.1.0\n", "5."),
        (["stats", "-"], 0, "Systems: 4 ratings", "{"),
        (["stats", "-", "--json", "-"], 0, '"n_systems": 2', "Systems:"),
        (["audit-ranks", "-", "--json"], 0, '"systems"', "Traceback"),
        (["stats", "nosuch.csv"], 1, "genie stats: There is no file", "CommandError"),
        (["compare-crowds", "-", "-", "--json"], 0, "n_ratings", "Traceback"),
        (["doctor"], 1, "there is no site here yet", "cannot be checked"),
        (["token", "ada"], 1, "there is no site here yet", "Traceback"),
        (["help", "load_task"], 0, "usage: genie load-task", "load_task --settings"),
        (["runserver", "--skip-checks", "--help"], 0, "--noreload", "--skip-checks"),
        (["version"], 0, "0.1.0\n", "5."),
        (["statz"], 1, "genie statz: There is no such command. Did you mean s", "'"),
    ],
)
def test_a_command_in_an_empty_folder_leaves_it_empty(
    tmp_path, words, code, said, unsaid
):
    environment = {
        name: value for name, value in os.environ.items() if name[:5] != "GENIE"
    } | {"DJANGO_SETTINGS_MODULE": "genie.settings", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "manage", *words], cwd=tmp_path, env=environment,
        capture_output=True, text=True, input=TABLE,
    )  # fmt: skip
    printed = done.stdout + done.stderr
    assert done.returncode == code, printed
    assert said in printed
    assert [word for word in unsaid.split() if word in printed] == []
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_said_before_anything_is_done():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(local_site.CommandError, match="genie up --port 1"):
            local_site.LocalSite().refuse_taken(port, "genie up --port 1")


def test_an_older_database_is_brought_up_to_date(monkeypatch, capsys):
    asked = []
    steps = [("crowd", "0027"), ("quality", "0013")]
    monkeypatch.setattr(
        local_site.MigrationExecutor, "migration_plan", lambda *_: steps
    )
    leaves = "django.db.migrations.graph.MigrationGraph.leaf_nodes"
    monkeypatch.setattr(leaves, lambda *_: [("auth", "0012"), ("crowd", "0001")])
    monkeypatch.setattr(
        local_site.MigrationExecutor,
        "migrate",
        lambda _, targets: asked.append(targets),
    )
    monkeypatch.setattr(local_site, "call_command", lambda *w, **_: asked.append(w))
    site = local_site.LocalSite()
    site.begin()
    site.prepare_database()
    assert asked == [[("auth", "0012")], ("migrate",)]
    assert "2 steps" in capsys.readouterr().out


def test_commands_beside_a_site_know_where_it_was_started(tmp_path, monkeypatch):
    assert site_address.read(tmp_path) == "http://localhost:8000"
    site_address.write_down(tmp_path, "http://127.0.0.1:8001")
    assert site_address.read(tmp_path) == "http://127.0.0.1:8001"
    monkeypatch.setenv("GENIE_SITE_URL", "https://genie.example")
    assert site_address.read(tmp_path) == "https://genie.example"


@pytest.mark.parametrize(
    ("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True), ("192.0.2.1", True)]
)
def test_a_site_that_is_open_asks_for_a_proxy(db, monkeypatch, host, warned):
    out = io.StringIO()
    command = up.Command(stdout=out)
    # it ends at once, as when a process of the site has exited
    monkeypatch.setattr(up, "Processes", Mock)
    monkeypatch.setattr(command, "refuse_taken", lambda *_, **__: None)
    monkeypatch.setattr(command, "prepare_database", lambda: None)
    monkeypatch.setattr(command, "start_site", lambda *_, **__: "http://127.0.0.1:8000")
    with pytest.raises(up.CommandError):
        command.handle(host=host, port=8000)
    assert ("proxy that buffers uploads" in out.getvalue()) is warned


@pytest.mark.parametrize("words", [["--version"], ["stats", "--help"]])
def test_beside_ciscos_package_the_command_stops_with_one_sentence(tmp_path, words):
    info = tmp_path / "genie-26.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: genie\nVersion: 26.9\n")
    done = subprocess.run(
        [sys.executable, ROOT / "manage.py", *words], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{command._COLLISION}\n"


def test_a_setting_that_is_missing_is_named_in_one_sentence(tmp_path):
    env = {**os.environ, "GENIE_PRODUCTION": "yes", "GENIE_VAR": str(tmp_path)}
    env |= {"DJANGO_SETTINGS_MODULE": "genie.settings", "GENIE_SECRET_KEY": ""}
    words = [sys.executable, "manage.py", "check", "--deploy"]
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "genie check: GENIE_SECRET_KEY must be set in production.\n"


@pytest.mark.slow
def test_the_same_commit_gives_the_same_wheels(tmp_path):
    made = []
    for place, umask in (("one", 0o022), ("another/folder", 0o077)):
        clone = tmp_path / place
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        (clone / ".venv").symlink_to(ROOT / ".venv")
        words = ["make", "--silent", "--old-file=.venv/test", "wheels"]
        subprocess.run(words, cwd=clone, check=True, umask=umask)
        wheels = sorted((clone / "build/wheels").iterdir())
        made.append({one.name: one.read_bytes() for one in wheels})
    assert made[0] == made[1]
    assert [name.split("-")[0] for name in made[0]] == [
        "genie_client",
        "genie_leaderboards",
    ]
