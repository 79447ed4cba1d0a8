"""kill -9 at any step, of any process: the walk goes on by itself, nothing counts twice."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.shared import put_migrated_sqlite

ROOT = Path(__file__).resolve().parent.parent
ON_POSTGRES = os.environ.get("DATABASE_URL", "").startswith("postgres")

POINTS = [
    "leaderboard.submissions.services.lifecycle:read_predictions:after",
    "leaderboard.submissions.services.lifecycle:_accept:after",
    "leaderboard.metric_runs.services:warnings_for:before",
    "leaderboard.metric_runs.services:write_result:after",
    "leaderboard.evaluation.campaigns:build_campaign:after:2",
    "quality.test_questions.services:place:after",
    "quality.detection.services.assess_pool:carry_out:before",
    "quality.detection.services.assess_pool:carry_out:after",
    "crowd.campaigns.services.run:complete:after:2",
    "leaderboard.evaluation.services.score:write:after:2",
    "leaderboard.evaluation.services.refit:refit:after:2",
    "leaderboard.evaluation.strategies.single_system:publish_submission:before:2",
    "leaderboard.evaluation.strategies.single_system:publish_submission:after:3",
]


@pytest.mark.parametrize("point", POINTS)
def test_every_kill_point_is_there(point):
    module, function, *_moment = point.split(":")
    assert callable(getattr(import_module(module), function))


def _environment(folder, settings, points=""):
    put_migrated_sqlite(folder / "genie.sqlite3")
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": settings,
        "GENIE_VAR": str(folder),
        "GENIE_SECRET_KEY": "crash",
        "GENIE_TEST_KILL_AT": points,
        "GENIE_LOG_LEVEL": "ERROR",
        "PYTHONPATH": str(ROOT),
    }
    env.pop("DATABASE_URL", None)
    return env


@pytest.mark.every_engine
@pytest.mark.slow
@pytest.mark.skipif(ON_POSTGRES, reason="there, every kind of process is killed")
def test_a_study_survives_a_queue_that_is_killed_at_every_step(tmp_path):
    env = _environment(tmp_path, "tests.crash.settings", " ".join(POINTS))
    drive = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.drive"],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert drive.stdout.readline() == "ready\n", drive.stderr.read()
    said = tmp_path / "queue.log"
    with said.open("w") as log:
        queue = subprocess.Popen(
            [sys.executable, "manage.py", "work", "--quiet"],
            cwd=ROOT,
            env=env,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        output, problems = drive.communicate(timeout=900)
    finally:
        drive.kill()
        queue.send_signal(signal.SIGTERM)
        queue.wait(timeout=30)
    assert drive.returncode == 0, problems + said.read_text()[-5000:]
    facts = json.loads(output)
    killed = sorted(path.name for path in (tmp_path / "killed").iterdir())
    assert killed == sorted(point.replace(":", "-") for point in POINTS)
    assert facts["predictions"] == 40 * 3
    assert facts["metrics"] == facts["metric_names"] * 3 > 9
    assert facts["evaluations"] == 1
    assert facts["campaigns"] == facts["commitments"] == facts["scores"] == 3
    assert facts["spent"] == facts["committed"]
    assert facts["hits"] == facts["judged"] + facts["tests"]
    assert facts["rewards"] == facts["rewarded_assignments"] == facts["submitted"]
    assert facts["submitted"] == facts["places"]
    assert facts["answers"] == facts["submitted"]
    assert facts["n"] == facts["judged"]
    walk = ["RECEIVED", "VALID", "MEASURED", "APPROVED", "ANNOTATING", "ANNOTATED"]
    assert facts["states"] == [[*walk, "SCORED", "PUBLISHED"]] * 3


@pytest.mark.slow
def test_each_kind_of_work_that_kills_its_process_each_time_is_given_up(tmp_path):
    env = _environment(tmp_path, "genie.settings")
    kinds = [sys.executable, "-m", "tests.crash.kinds"]
    done = subprocess.run(kinds, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [n for n, _ in found] == [3] * 8
    assert all(f"interrupted {n} times before" in failure for n, failure in found)
