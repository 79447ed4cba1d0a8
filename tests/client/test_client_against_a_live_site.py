"""The client as people and programs use it, against a site that answers."""

import json
import shutil
import subprocess
import sys
import tomllib

import pytest

from leaderboard.models import Submission
from tests.client.conftest import CLIENT
from tests.factories import make_ranked, make_submission, make_task, make_team

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def board(team, submitter, rival_team, rival):
    task = make_task(config={"quota": {"submissions": 9, "days": 7}})
    kite = make_ranked(task, 80, system="Kite", team=team, owner=submitter)
    wren = make_ranked(task, 60, system="Wren", team=rival_team, owner=rival)
    make_ranked(task, 79, system="Robot", team=team, owner=submitter, simulated=True)
    make_submission(task, system="Egret", team=team, owner=submitter)
    return kite, wren


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps({f"i{n}": f"Text number {n}." for n in range(3)}))
    return path


def test_a_board_is_read_by_people_and_programs(run, board, tmp_path):
    code, said, _ = run("leaderboard", "tidy-news", token=None)
    assert code == 0
    lines = [line.split() for line in said.splitlines()]
    assert lines[0][:2] == ["rank", "system"]
    assert [line[1] for line in lines[1:]] == ["Kite", "Robot", "Wren", "Egret"]
    assert "(simulated)" in said
    assert "80.0   [78.0, 82.0]" in said

    rows = json.loads(run("--json", "leaderboard", "tidy-news")[1])
    then = json.loads(
        run("--json", "leaderboard", "tidy-news", "--at", "2020-01-01")[1]
    )
    today = board[0].published_at.date().isoformat()
    now = json.loads(run("--json", "leaderboard", "tidy-news", "--at", today)[1])
    assert rows[0]["mean"] == 80.0
    assert rows[0]["rank_last"] == 2
    assert then == []
    assert [row["system"] for row in now] == ["Kite", "Robot", "Wren"]
    assert {key: rows[0][key] for key in ("low", "team")} == {
        key: now[0][key] for key in ("low", "team")
    }
    assert "tidy-news" in run("tasks")[1]

    out = tmp_path / "board.csv"
    assert run("download", "tidy-news", "csv", "--out", out)[0] == 0
    assert out.read_text().startswith("rank_first,")
    assert run("download", "tidy-news", "sample", "--out", out)[0] == 0
    assert list(json.loads(out.read_text())) == ["i0", "i1", "i2"]


def test_a_file_is_checked_and_nothing_is_kept(run, board, file):
    n = Submission.own.count()
    code, said, _ = run("validate", "tidy-news", file, token=None)
    assert (code, said.startswith("Good: 3 predictions")) == (0, True)

    file.write_text('{"i0": "a", "i9": "b"}')
    code, said, _ = run("validate", "tidy-news", file)
    assert code == 1
    assert "i9" in said
    found = json.loads(run("--json", "validate", "tidy-news", file)[1])
    assert found["valid"] is False
    assert {"i1", "i2"} <= {
        example.get("id")
        for problem in found["problems"]
        for example in problem["examples"]
    }
    assert Submission.own.count() == n


def test_who_may_hand_in_is_told_what_the_check_before_people_notices(run, board, file):
    file.write_text(json.dumps({f"i{n}": "One and the same." for n in range(3)}))
    code, said, _ = run("validate", "tidy-news", file)
    assert code == 0
    assert "- warning: The same prediction" in said
    assert "identical-predictions" in said
    noticed = json.loads(run("--json", "validate", "tidy-news", file)[1])["warnings"]
    assert "identical-predictions" in {one["code"] for one in noticed}
    for token in (None, "genie_revoked"):
        said = run("--json", "validate", "tidy-news", file, token=token)[1]
        assert json.loads(said)["warnings"] is None


def test_a_file_that_is_too_large_is_refused_in_words(run, board, file, settings):
    """It is taken from the program first: else that sees a broken connection only."""
    settings.GENIE = {**settings.GENIE, "MAX_UPLOAD_BYTES": 2 << 20}
    file.write_bytes(b"x" * (12 << 20))
    submit = ("submit", "tidy-news", file, "--system", "Lark")
    for arguments in (submit, ("validate", "tidy-news", file)):
        code, _, told = run(*arguments)
        assert (code, "larger than 2 MB" in told) == (1, True), told
    found = json.loads(run("--json", "validate", "tidy-news", file, token=None)[1])
    assert found["code"] == "file-too-large"


def test_who_is_in_several_teams_is_told_to_name_one(run, board, file, submitter):
    egret = make_team("Team Egret", submitter)
    arguments = ("submit", "tidy-news", file, "--system", "Lark")
    code, _, told = run(*arguments)
    assert code == 1
    assert egret.slug in told
    assert "--team" in told
    assert run(*arguments, "--team", egret.slug)[0] == 0


def test_refusals_are_said_and_tokens_go_nowhere_else(run, board, file, live_server):
    from genie_client import Client, Problem

    submit = ("submit", "tidy-news", file, "--system", "X")
    for arguments, token in (
        (submit, None),
        (submit, "wrong"),
        (("leaderboard", "nothing"), None),
        (("validate", "tidy-news", "no-such-file.json"), None),
    ):
        code, said, told = run(*arguments, token=token)
        assert (code, said) == (1, ""), arguments
        assert len(told.splitlines()) == 1
    assert "No benchmark task" in run("submit", "nothing", *submit[2:])[2]
    code, said, _ = run("--json", "status", "999999", token=None)
    assert (code, json.loads(said)["code"]) == (1, "not-found")
    with pytest.raises(SystemExit) as wrong:
        run("status", "seventeen")
    assert wrong.value.code == 2

    stray = Client(live_server.url, "secret")
    with pytest.raises(Problem, match="does not belong to"):
        stray._http.bytes("http://127.0.0.1:9/steal")


def test_it_stands_alone(tmp_path):
    """It needs no other package, and what its pyproject.toml names is there."""
    project = tomllib.loads((CLIENT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["dependencies"] == []
    assert project["tool"]["setuptools"]["packages"] == ["genie_client"]
    [(name, entry)] = project["project"]["scripts"].items()
    module, function = entry.split(":")
    shutil.copytree(CLIENT / "genie_client", tmp_path / "genie_client")
    # -S: without the packages of this environment
    answer = subprocess.run(
        [
            *(sys.executable, "-S", "-c"),
            f"from {module} import {function} as run; run(['--help'])",
        ],
        env={"PYTHONPATH": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert answer.stdout.startswith(f"usage: {name}")
    for verb in ("submit", "validate", "status", "leaderboard", "download", "compare"):
        assert verb in answer.stdout
