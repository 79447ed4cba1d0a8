from unittest.mock import patch

import pytest

from leaderboard.judges.services import ask, decide, define
from leaderboard.judges.services import work as working
from leaderboard.models import JudgeBudget, Prediction, Task
from tests.factories import make_submission, make_task, make_team, make_user
from tests.judge_server import serving

WHOLE_PIECE = working.PIECE_SECONDS


@pytest.fixture
def server(monkeypatch, tmp_path):
    pytest.importorskip("openai")
    key = tmp_path / "key"
    key.write_text("sk-secret\n")
    with serving() as judge:
        monkeypatch.setenv("GENIE_JUDGES", "stand-in")
        monkeypatch.setenv("GENIE_JUDGE_STAND_IN_URL", judge.url)
        monkeypatch.setenv("GENIE_JUDGE_STAND_IN_KEY_FILE", str(key))
        monkeypatch.setenv("GENIE_JUDGE_STAND_IN_PRIVATE", "yes")
        yield judge


@pytest.fixture
def judged(db):
    task = make_task(n_instances=3, hidden_references=True)
    add_system(task, "Kite", lambda at: "a" * (12 + 10 * at))
    add_system(task, "Wren", lambda at: "b" * 25)
    return task


def add_system(task, name, text_of, **fields):
    owner = make_user(name.lower())
    system = make_submission(
        task, team=make_team(name, owner), owner=owner, system=name, **fields
    )
    Prediction.objects.bulk_create(
        Prediction(submission=system, instance=one, text=text_of(one.position))
        for one in task.instances.order_by("position")
    )
    return system


def make_judge(name="lark", version="1", **fields):
    made = {"endpoint": "stand-in", "model": "m-1"}
    pace = {"per_minute": 0, "at_once": 3, "timeout_seconds": 5}
    for key in ("per_minute", "at_once", "timeout_seconds", "n_retries"):
        if key in fields:
            pace[key] = fields.pop(key)
    prices = {
        key: fields.pop(key) for key in ("input_price", "output_price") if key in fields
    }
    return define.make(name, version, {**made, **fields}, **pace, **prices)


def make_script(script="words", *, name=None, **fields):
    made = {"endpoint": "scripted", "model": script, **fields}
    return define.make(name or script, "1", made, per_minute=0)


def approved(judge, task: Task, *, budget=None, cents=None, said=None, **wish):
    run = ask.ask(judge, task, ask.Wish(**wish))
    if budget is not None:
        JudgeBudget.objects.create(task=task, cents=budget)
    by = make_user(f"staff-{run.pk}")
    said = said or {}
    assert decide.approve(run, by=by, cents=cents, **said)
    return run


def worked(run):
    """Work on a run as one job would that has as long as a busy machine takes."""
    piece = working.PIECE_SECONDS
    piece = 600.0 if piece == WHOLE_PIECE else piece
    with patch.object(working, "PIECE_SECONDS", piece):
        working.work(run.pk)
    run.refresh_from_db()
    return run
