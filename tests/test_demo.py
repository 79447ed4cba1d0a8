"""`make demo` as a newcomer starts it: a real process, a real browser's requests."""

from __future__ import annotations

import http.cookiejar
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Demo:
    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.log = folder / "log"
        env = {**os.environ, "GENIE_VAR": str(folder / "var"), "GENIE_SECRET_KEY": ""}
        for name in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE"):
            env.pop(name, None)
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "demo", "--port", str(self.port)],
                cwd=ROOT,
                env=env,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

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

    def sign_in(self, username: str, password: str):
        jar = http.cookiejar.CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        page = self.get("/login/", opener)
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page).group(1)
        fields = {
            "csrfmiddlewaretoken": token,
            "login": username,
            "password": password,
        }
        opener.open(
            f"http://127.0.0.1:{self.port}/login/",
            urllib.parse.urlencode(fields).encode(),
            timeout=20,
        ).read()
        return opener


def children_of(group: int) -> list[str]:
    listing = subprocess.run(
        ["ps", "-eww", "-o", "pid,args"], capture_output=True, text=True, check=True
    ).stdout
    return [line for line in listing.splitlines() if f"127.0.0.1:{group}" in line]


@pytest.mark.slow
def test_the_demo_runs_shows_its_boards_keeps_them_and_stops(tmp_path):
    demo = Demo(tmp_path)
    try:
        printed = demo.wait(300)
        assert printed.splitlines()[0].endswith(
            "(about half a minute on the first start)"
        )
        passwords = dict(re.findall(r"(\w+) +password (\S+)", printed))
        assert set(passwords) == {"admin", "sam", "wren"}
        assert re.search(r"\d+ HITs answered by simulated annotators", printed)
        home = demo.get("/")
        for slug in ("demo-qa", "demo-abductive", "demo-translation"):
            assert f"/tasks/{slug}/" in home
            board = demo.get(f"/tasks/{slug}/")
            assert "simulated" in board.lower()
        assert "Kingfisher-QA" in demo.get("/tasks/demo-qa/")
        admin = demo.get("/admin/", demo.sign_in("admin", passwords["admin"]))
        assert "Site administration" in admin
        assert "approve" in admin.lower()
        work = demo.get("/work/", demo.sign_in("wren", passwords["wren"]))
        assert "/work/test/demo-translation/" in work
        assert children_of(demo.port)
    finally:
        demo.stop()
    assert demo.process.returncode == 0, demo.log.read_text()
    assert children_of(demo.port) == []

    again = Demo(tmp_path)
    try:
        printed = again.wait(90)
        assert "keeping" in printed
        assert "simulated annotators" not in printed
        assert "Kingfisher-QA" in again.get("/tasks/demo-qa/")
        again.process.kill()  # not asked to stop: its processes end all the same
        again.process.wait(timeout=10)
        deadline = time.monotonic() + 5
        while children_of(again.port):
            assert time.monotonic() < deadline, children_of(again.port)
            time.sleep(0.1)
    finally:
        again.stop()


def test_make_demo_says_that_it_begins_before_anything_that_takes_time():
    planned = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "demo"],
        cwd=ROOT, capture_output=True, text=True, check=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("MAKE")},
    ).stdout  # fmt: skip
    assert planned.startswith("echo ")
