"""kill -9 of the queue at any step: the walk goes on by itself, nothing counts twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.shared import own_database, put_migrated_sqlite

ROOT = Path(__file__).resolve().parent.parent

POINTS = [
    "leaderboard.submissions.services.validate:read_predictions:after",
    "leaderboard.submissions.services.validate:_accept:after",
    "leaderboard.metric_runs.services.measure:warnings_for:before",
    "leaderboard.metric_runs.services.measure:write_result:after",
    "leaderboard.evaluation.campaigns:build_campaign:after",
    "quality.test_questions.services.inject:place:after",
    "quality.detection.services.assess_pool:carry_out:before",
    "quality.detection.services.assess_pool:carry_out:after",
    "crowd.campaigns.services.run:complete:after",
    "leaderboard.evaluation.services.score:write:after",
    "leaderboard.evaluation.services.publish:publish:before",
    "leaderboard.evaluation.services.publish:publish:after",
]


@pytest.fixture
def database():
    with own_database("kill") as address:
        yield address


@pytest.mark.parametrize("point", POINTS)
def test_every_kill_point_is_there(point):
    module, function, _moment = point.split(":")
    assert callable(getattr(import_module(module), function))


@pytest.mark.slow
def test_a_submission_survives_a_queue_that_is_killed_at_every_step(tmp_path, database):
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.crash.settings",
        "GENIE_VAR": str(tmp_path),
        "GENIE_SECRET_KEY": "crash",
        "GENIE_TEST_KILL_AT": " ".join(POINTS),
        "GENIE_LOG_LEVEL": "ERROR",
        "PYTHONPATH": str(ROOT),
    }
    env.pop("DATABASE_URL", None)
    if database:
        env["DATABASE_URL"] = database
    else:
        put_migrated_sqlite(tmp_path / "genie.sqlite3")
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
    assert facts["predictions"] == 40
    assert facts["metrics"] == facts["metric_names"] > 3
    assert facts["campaigns"] == facts["commitments"] == 1
    assert facts["hits"] == facts["judged"] + facts["tests"]
    assert facts["rewards"] == facts["rewarded_assignments"] == facts["submitted"]
    assert facts["submitted"] == facts["hits"] + facts["replaced"]
    assert facts["answers"] == facts["submitted"]
    assert facts["scores"] == 1
    assert facts["n"] == facts["judged"]
    walk = ["RECEIVED", "VALID", "MEASURED", "APPROVED", "ANNOTATING", "ANNOTATED"]
    assert facts["states"] == [*walk, "SCORED", "PUBLISHED"]
