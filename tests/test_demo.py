"""An installed Genie as a newcomer starts it: real processes, a real browser's requests."""

import http.cookiejar
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from django.contrib.auth import get_user_model

from genie.lib.errors import GenieError
from genie.lib.serving.processes import answers
from leaderboard import demo
from leaderboard.submissions.models import Submission
from tests.installed import Installed, install, tracked
from tests.shared import put_migrated_sqlite

ROOT = Path(__file__).resolve().parent.parent
# of the wheel's own, not of a checkout
METADATA = re.compile(r"genie_leaderboards-[\d.]+\.dist-info/")


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installed:
    return install(tmp_path_factory.mktemp("installed"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Site:
    """A command that keeps a site running, in a folder that is empty at first."""

    def __init__(self, installed: Installed, command: str, folder: Path) -> None:
        self.genie, self.folder = installed.genie, folder
        self.port = free_port()
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [self.genie, command, "--port", str(self.port)],
                cwd=folder,
                env=self.environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def environment(self) -> dict[str, str]:
        ours = ("GENIE_", "DATABASE_URL", "DJANGO_", "PYTHON")
        return {k: v for k, v in os.environ.items() if not k.startswith(ours)}

    def run(self, *words: str) -> str:
        done = subprocess.run(
            [self.genie, *words], cwd=self.folder, env=self.environment(),
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    def wait(self, seconds: float) -> str:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            text = self.log.read_text()
            if "Ctrl-C stops everything" in text:
                return text
            assert self.process.poll() is None, text
            time.sleep(0.2)
        raise AssertionError(f"no address after {seconds} s:\n{self.log.read_text()}")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=40)

    def get(self, path: str, opener=urllib.request) -> str:
        url = f"http://127.0.0.1:{self.port}{path}"
        open_url = getattr(opener, "urlopen", None) or opener.open
        with open_url(url, timeout=20) as answer:
            return answer.read().decode()

    def send_form(self, path: str, **fields: str):
        """Fill in a form as a browser does; give who is signed in then, and the page."""
        jar = http.cookiejar.CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        page = self.get(path, opener)
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page).group(1)
        data = urllib.parse.urlencode({"csrfmiddlewaretoken": token, **fields})
        url = f"http://127.0.0.1:{self.port}{path}"
        answer = opener.open(url, data.encode(), timeout=20).read().decode()
        return opener, answer

    def sign_in(self, username: str, password: str):
        return self.send_form("/login/", login=username, password=password)[0]

    def processes(self) -> list[str]:
        listing = subprocess.run(
            ["ps", "-eww", "-o", "pid,args"], capture_output=True, text=True, check=True
        ).stdout
        return [x for x in listing.splitlines() if f"--port {self.port}" in x]


@pytest.mark.slow
def test_the_demo_runs_shows_its_boards_keeps_them_and_stops(installed, tmp_path):
    demo = Site(installed, "demo", tmp_path)
    try:
        printed = demo.wait(900)
        assert printed.startswith("genie demo: starting ...\n")
        assert str(tmp_path / "var") in printed.splitlines()[1]
        passwords = dict(re.findall(r"(\w+) +password (\S+)", printed))
        assert set(passwords) == {"admin", "sam", "wren"}
        assert re.search(r"\d+ HITs answered by simulated annotators", printed)
        home = demo.get("/")
        for slug in ("demo-qa", "demo-abductive", "demo-translation"):
            assert f"/tasks/{slug}/" in home
            board = demo.get(f"/tasks/{slug}/")
            assert "simulated" in board.lower()
            file = demo.get(f"/tasks/{slug}/board.csv")
            assert f":{demo.port}/submissions/" in file
        assert "Kingfisher-QA" in demo.get("/tasks/demo-qa/")
        ways = home.partition("Three things to try")[2]
        assert ways.index("Look around") < ways.index("Rate some outputs")
        assert ways.index("Rate some outputs") < ways.index("Make your own")
        admin = demo.get("/admin/", demo.sign_in("admin", passwords["admin"]))
        assert "Site administration" in admin
        assert "approve" in admin.lower()
        work = demo.get("/work/", demo.sign_in("wren", passwords["wren"]))
        assert "Start" in work  # qualified, and with work at once
        assert "/work/test/" not in work
        assert "Exclusions to confirm" not in admin
        hand_in(demo)
        assert demo.processes()
    finally:
        demo.stop()
    assert demo.process.returncode == 0, demo.log.read_text()
    assert demo.processes() == []

    again = Site(installed, "demo", tmp_path)
    try:
        printed = again.wait(300)
        assert "keeping" in printed
        assert "simulated annotators" not in printed
        assert "Kingfisher-QA" in again.get("/tasks/demo-qa/")
        again.process.kill()  # not asked to stop: its processes end all the same
        again.process.wait(timeout=10)
        deadline = time.monotonic() + 5
        while again.processes():
            assert time.monotonic() < deadline, again.processes()
            time.sleep(0.1)
    finally:
        again.stop()


def hand_in(demo: Site) -> None:
    """Submit another system with the client and wait until it is measured."""
    inputs = json.loads(demo.get("/api/v1/tasks/demo-qa/instances/"))["results"]
    outputs = demo.folder / "outputs.json"
    outputs.write_text(json.dumps({one["id"]: "In the shed." for one in inputs}))
    site = f"http://127.0.0.1:{demo.port}"
    told = subprocess.run(
        [sys.executable, "-m", "genie_client", "submit", "demo-qa", str(outputs),
         "--system", "Shed-QA", "--team", "careless-uploads", "--watch", "--every", ".5"],
        env={**demo.environment(), "PYTHONPATH": str(ROOT / "client"),
             "GENIE_SITE": site, "GENIE_TOKEN": demo.run("token", "sam")},
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert "Shed-QA" in told


@pytest.mark.slow
def test_a_site_begins_in_an_empty_folder_with_its_first_staff_account(
    installed, tmp_path
):
    # as docs/install.md shows it, in a folder that is empty
    page = (ROOT / "docs/install.md").read_text("utf-8")
    assert "$ mkdir my-site && cd my-site\n$ genie up\n```" in page
    assert page.index("$ pip install .\n") < page.index("$ genie up\n")
    site = Site(installed, "up", tmp_path)
    try:
        printed = site.wait(120)
        way_in = re.search(r"http://127.0.0.1:\d+(/account/set-up/\S+)", printed)[1]
        answers = {"username": "nina", "email": "nina@example.org"}
        secret = {"password1": "a kite in the wind", "password2": "a kite in the wind"}
        opener, page = site.send_form(way_in, **answers, **secret)
        assert "First steps" in page
        assert "Site administration" in site.get("/admin/", opener)
        assert json.loads(site.get("/readyz"))["ready"]
        assert "color" in site.get("/static/genie.css")
    finally:
        site.stop()
    assert site.process.returncode == 0, site.log.read_text()
    assert site.processes() == []
    assert {path.name for path in tmp_path.iterdir()} == {"log", "var"}


@pytest.mark.slow
def test_the_steps_of_the_compose_file_end_with_a_site_for_production(
    installed, tmp_path
):
    """No builder is at hand: what image and compose file run is run on a bare folder."""
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    settings = (ROOT / "docs/deploy/genie.env").read_text("utf-8")
    port = free_port()
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("DATABASE_URL")},
        **dict(re.findall(r"^([A-Z_]+)=(.+)$", settings, re.M)),
        "GENIE_SECRET_KEY": secrets.token_urlsafe(50),
        "GENIE_VAR": str(tmp_path),
        "PATH": f"{installed.bin}:{os.environ['PATH']}",
        "PYTHONPATH": "",
    }
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    # the tables are made already: it saves seconds
    put_migrated_sqlite(tmp_path / "genie.sqlite3")
    subprocess.run(
        services["setup"]["command"], cwd=tmp_path, env=environment, check=True
    )
    program, *words = services["web"]["command"]
    with stopped_at_the_end(
        subprocess.Popen(
            [installed.bin / "python", "-m", program,
             *(word.replace("0.0.0.0:8000", f"127.0.0.1:{port}") for word in words)],
            cwd=tmp_path, env=environment,
        )
    ):  # fmt: skip
        site = f"http://127.0.0.1:{port}"
        assert answers(f"{site}/healthz")
        through_the_proxy = {"Host": "genie.example", "X-Forwarded-Proto": "https"}
        page = fetch(f"{site}/", through_the_proxy)
        style = re.search(r'href="(/static/genie\.[0-9a-f]+\.css)"', page)[1]
        assert "color" in fetch(f"{site}{style}", through_the_proxy)


def fetch(url: str, headers: dict[str, str]) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return answer.read().decode()


@contextmanager
def stopped_at_the_end(process: subprocess.Popen):
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=40)


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_product_and_nothing_else(installed):
    expected = {
        re.sub(r"^(templates|static|docs)/", r"genie/assets/\1/", name)
        for name in tracked()
        if re.match(r"(genie|leaderboard|quality|crowd|templates|static|docs)/", name)
    }
    expected -= {
        f"genie/assets/{name}" for name in ("templates", "static", "docs")
    }  # the links
    with zipfile.ZipFile(installed.wheel) as wheel:
        names = {name for name in wheel.namelist() if not METADATA.match(name)}
        (metadata,) = (n for n in wheel.namelist() if n.endswith("/METADATA"))
        told = wheel.read(metadata).decode()
    assert names == expected
    assert "Name: genie-leaderboards" in told
    needed = re.findall(r"^Requires-Dist: (.+)$", told, re.M)
    exact = [one for one in needed if "==" in one and "extra" not in one]
    # Genie changes how it works inside
    assert [one for one in exact if not one.startswith("django-q2==")] == []


def test_make_demo_says_that_it_begins_before_anything_that_takes_time():
    planned = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "demo"],
        cwd=ROOT, capture_output=True, text=True, check=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("MAKE")},
    ).stdout  # fmt: skip
    assert planned.startswith("echo ")


@pytest.mark.django_db
def test_one_task_of_the_demo_shows_every_state(
    client, without_decoys, monkeypatch, settings, tmp_path
):
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(demo, "slugs", lambda: ["demo-translation"])
    monkeypatch.setattr(demo, "TASK", "demo-translation")
    told: list[str] = []
    assert not demo.present()
    demo.make(told.append)
    assert demo.present()
    assert told == [
        "task German to English (demo): 40 instances",
        "validating the submissions and computing metrics",
        "campaigns created, test questions added, HITs posted",
        "100 HITs answered by simulated annotators",
        # 30 to 39 items of a system, with tests, and a tenth of them twice
        "126 HITs answered by simulated annotators in total",
        "7 of 9 simulated annotators passed the qualification test for German to English "
        "(demo)",
        "Dictionary-Walk is half rated. Sign in as a worker to finish it",
        "a word-counting script judged 150 outputs of German to English (demo)",
    ]
    assert {row.system_name: row.state for row in Submission.objects.all()} == {
        **dict.fromkeys(["Ferry-Large", "Ferry-Small", "Wordbridge"], "PUBLISHED"),
        "Dictionary-Walk": "ANNOTATING",
        "Shuffled-Ids": "MEASURED",
    }
    board = client.get("/api/v1/tasks/demo-translation/leaderboard/").json()
    rows = {row["system"]: row for row in board["results"]}
    assert all(row["simulated"] for row in rows.values())
    published = ["Ferry-Large", "Ferry-Small", "Wordbridge"]
    means = [round(rows[name]["human"]["mean"]) for name in published]
    assert means == [89, 69, 54]
    assert rows["Dictionary-Walk"]["pending"] == {"n": 13, "of": 30}
    assert rows["Shuffled-Ids"]["pending"] == {"n": 0, "of": 30}


@pytest.mark.django_db
def test_passwords_of_the_demo_stay_and_other_accounts_keep_theirs(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    drawn = demo.passwords()
    assert [one.username for one in drawn] == ["admin", "sam", "wren"]
    assert drawn == demo.passwords()
    users = get_user_model().objects
    assert all(users.get(username=o.username).check_password(o.password) for o in drawn)
    assert (tmp_path / "demo-passwords.json").stat().st_mode & 0o777 == 0o600
    demo.refuse_strangers()
    users.filter(username="sam").update(email="sam@example.org")
    with pytest.raises(GenieError, match="has an account 'sam' that the demo did not"):
        demo.refuse_strangers()
