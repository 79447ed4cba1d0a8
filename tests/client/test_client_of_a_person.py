"""Sign in once, see one's own, take back and bring back, read outputs and frames."""

import io
import json
import os
import socket
import stat
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from genie.accounts import tokens
from leaderboard.api.base import Reads
from tests.client.conftest import CLIENT
from tests.factories import make_predictions, make_ranked, make_submission, make_task

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    path = tmp_path / "genie" / "client.json"
    monkeypatch.setenv("GENIE_CONFIG", str(path))
    return path


@pytest.fixture
def secret(submitter):
    scopes = ["read", "submit", "withdraw"]
    return tokens.issue(submitter, name="client", scopes=scopes, days=None)[1]


@pytest.fixture
def systems(team, submitter):
    task, who = make_task(), {"team": team, "owner": submitter}
    kite = make_ranked(task, 80, system="Kite", **who)
    make_predictions(kite)
    return kite, make_submission(task, system="Wren", **who)


def test_a_token_is_given_once(run, kept, systems, secret, live_server, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{secret}\n"))
    code, said, _ = run("login", token=None)
    assert (code, said.startswith("nina, teams: ")) == (0, True)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert secret not in said
    rows = json.loads(run("--json", "mine", token=None)[1])
    assert [row["system_name"] for row in rows] == ["Wren", "Kite"]
    # the token is of this site, and is shown to no other
    from genie_client.session import place

    other = SimpleNamespace(site="https://elsewhere.example", token=None)
    assert place(other) == ("https://elsewhere.example", None)
    assert run("logout", token=None)[1].startswith("The stored token was removed")
    assert not kept.exists()
    assert run("mine", token=None)[0] == 1


def test_a_token_that_is_wrong_is_not_kept(run, kept, systems, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("genie_wrong\n"))
    code, _, told = run("login", token=None)
    assert (code, "not valid" in told) == (1, True)
    assert not kept.exists()


def test_what_was_withdrawn_is_restored_and_read(run, kept, systems, tmp_path):
    kite, wren = systems
    assert ": WITHDRAWN" in run("withdraw", wren.pk, "--reason", "A bug.")[1]
    code, said, _ = run("restore", wren.pk)
    assert (code, f"/submissions/{wren.pk}/" in said) == (0, True)
    assert ": MEASURED" in said
    assert run("restore", wren.pk)[0] == 1
    out = tmp_path / "outputs.jsonl"
    assert run("outputs", kite.pk, "--out", out)[0] == 0
    # a refusal leaves what is there
    assert run("outputs", kite.pk, "--out", out, token="wrong")[0] == 1
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["i0", "i1", "i2"]
    assert "Kite" in run("mine", "--state", "PUBLISHED")[1]


def test_rated_outputs_come_with_the_worst_first(run, kept, systems, monkeypatch):
    from genie_client import Client

    kite, wren = systems
    pages = Client._pages

    def judgments(client, path, *more, **fields):
        if not path.endswith("/judgments/"):
            return pages(client, path, *more, **fields)
        said = [("i0", "overall", 1.0), ("i2", "overall", 0.5), ("i2", "other", 1.0)]
        rows = [
            {"instance": i, "criterion": c, "value": value, "counts": True}
            for i, c, value in said
        ]
        return [*rows, {**rows[1], "value": 0.0, "counts": False}]

    monkeypatch.setattr(Client, "_pages", judgments)
    said = run("outputs", kite.pk, "--worst")[1]
    rows = [json.loads(line) for line in said.splitlines()]
    assert [(row["id"], row["rating"]) for row in rows] == [("i2", 0.5), ("i0", 1.0)]
    monkeypatch.undo()
    assert "once the result is published" in run("outputs", wren.pk, "--worst")[2]


def test_boards_are_frames_of_a_library_there(systems, live_server, monkeypatch):
    from genie_client import Client, Problem

    genie = Client(live_server.url)
    found = genie.leaderboard_frame("tidy-news")
    assert list(found["system"]) == ["Kite", "Wren"]
    assert found["sacrebleu"][0] == 40.0
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(DataFrame=dict))
    rows = genie.leaderboard_frame("tidy-news", library="polars")
    assert rows["mean"] == [80.0, None]
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(Problem, match="pip install"):
        genie.leaderboard_frame("tidy-news", library="polars")


def test_a_busy_site_is_asked_again(systems, live_server, monkeypatch, secret):
    from genie_client import Client, Problem, transport

    waits = []
    monkeypatch.setattr(transport.time, "sleep", waits.append)
    monkeypatch.setattr(Reads, "rate", "1/hour", raising=False)
    genie = Client(live_server.url, secret)
    genie.whoami()
    with pytest.raises(Problem, match="limited to 1 an hour"):
        genie.whoami()
    assert waits == []
    gone = Client("http://127.0.0.1:9", timeout=1)
    with pytest.raises(Problem, match="cannot be reached"):
        gone.tasks()
    assert len(waits) == 3
    assert waits == sorted(waits)
    # a change without a key might be made twice
    with pytest.raises(Problem, match="cannot be reached"):
        gone.withdraw(1)
    assert len(waits) == 3
    busy = Problem("Busy.", status=503, retry_after=7.0)
    assert transport.pause(busy, 0) == 7.0
    monkeypatch.setattr("leaderboard.boards.views.files.is_long", lambda _task: True)
    with pytest.raises(Problem, match="still making this file"):
        Client(live_server.url).download("tidy-news", "csv")
    assert waits[3:] == [5.0] * 3


def test_an_upload_is_shown_on_a_terminal_and_the_version_is_told(capsys):
    from genie_client.command import main
    from genie_client.progress import Bar, Upload

    terminal = SimpleNamespace(text="", isatty=lambda: True, flush=lambda: None)
    terminal.write = lambda part: setattr(terminal, "text", terminal.text + part)
    with Bar("Uploading", terminal) as bar:
        body = Upload(b"x" * 100, bar.show)
        while body.read(50):
            pass
    assert " 50%" in terminal.text
    assert "100%" in terminal.text
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == "genie-client 1.0.0\n"


def test_a_reader_who_has_enough_is_no_error(systems, live_server):
    kite, _ = systems
    command = (
        f"{sys.executable} -m genie_client --site {live_server.url} outputs {kite.pk}"
    )
    done = subprocess.run(  # a pipe is what is tested
        f"{command} | true",
        shell=True,
        env={**os.environ, "PYTHONPATH": str(CLIENT), "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("leaderboard tidy-nwes", "Not found, or you don't have access to it."),
        ("outputs 1 --out nodir/x", "nodir/x: No such file or directory."),
        ("download tidy-news csv --out /dev/full", "No space left on device."),
        ("tasks --site http://[::1", "'http://[::1' is not the address of a site"),
        ("--site http://x:port tasks", "'http://x:port' is not the address"),
        ("tasks --site http://127.0.0.1:9", "cannot be reached: Connection refused."),
        ("tasks --token \u0171", "The token contains characters that no token has."),
    ],
)
def test_a_refusal_is_one_sentence(run, systems, monkeypatch, words, said):
    monkeypatch.setattr("genie_client.transport.pause", lambda *_: None)
    code, _, told = run(*words.replace(" 1 ", f" {systems[0].pk} ").split())
    assert (code, told.count("\n")) == (1, 1)
    assert said in told
    for wrong in ("tasks --timeout nan", "leaderboard \udcff", "log --keep -"):
        with pytest.raises(SystemExit, match="2"):
            run(*wrong.split())


def test_streams_and_json_are_taken_behind_the_command(run, systems, monkeypatch):
    from genie_client import transport

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"A text.\n")))
    transport._standard_input.cache_clear()
    code, said, _ = run("validate", "tidy-news", "-", "--json")
    assert (code, json.loads(said)["problems"][0]["code"]) == (1, "line-count")
    assert '"id": "i0"' in run("outputs", systems[0].pk, "--out", "-")[1]


@pytest.fixture
def refusing():
    """Answer 413 after the first bytes of a request, as a site or its proxy does."""
    body = b'{"detail": "The file is larger than 8 MB.", "code": "file-too-large"}'
    head = b"HTTP/1.1 413 Too Large\r\nContent-Type: application/problem+json\r\n"
    server = socket.create_server(("127.0.0.1", 0))

    def answer():
        connection, _ = server.accept()
        with connection:
            connection.recv(1 << 16)
            length = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            connection.sendall(head + length.encode() + body)

    thread = threading.Thread(target=answer)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    thread.join()
    server.close()


def test_a_refusal_of_a_large_file_is_read_although_the_site_stops_reading(refusing):
    from genie_client.problem import Problem
    from genie_client.transport import Transport

    with pytest.raises(Problem) as caught:
        Transport(refusing, None, 10).json("/api/", data=bytes(50 << 20))
    assert caught.value.status == 413
    assert "The file is larger than 8 MB." in str(caught.value)
