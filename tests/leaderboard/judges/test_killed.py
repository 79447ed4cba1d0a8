"""A process that asks a judge is killed for real; another one ends its run."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.judge_server import serving
from tests.shared import put_migrated_sqlite

ROOT = Path(__file__).resolve().parents[3]
SET_UP = "import django; django.setup()\n"
BEGIN = """
from decimal import Decimal
from leaderboard.judges.services.work import work
from tests.factories import make_task
from tests.leaderboard.judges.conftest import add_system, approved, make_judge

task = make_task(n_instances=20)
add_system(task, "Kite", lambda at: "a" * (at + 5))
judge = make_judge(input_price=Decimal(300), output_price=Decimal(2000))
work(approved(judge, task, budget=500).pk)
"""
GO_ON = """
import json
from django.utils import timezone
from leaderboard.judges.services.work import work
from leaderboard.models import JudgeRun

run = JudgeRun.objects.get()
work(run.pk)  # it is the dead one's turn still
run.refresh_from_db()
early = run.state
JudgeRun.objects.update(next_at=timezone.now())
work(run.pk)
run.refresh_from_db()
costs = list(run.costs.values_list("state", "microcents"))
print(json.dumps([early, run.state, run.microcents, run.approved_cents, costs,
                  run.calls.filter(state="VALID").count()]))
"""


@pytest.mark.slow
def test_a_killed_run_is_ended_by_another_process_and_each_answer_paid_once(tmp_path):
    pytest.importorskip("openai")
    put_migrated_sqlite(tmp_path / "genie.sqlite3")
    with serving() as server:
        server.delay = 0.2
        env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "genie.settings",
            "GENIE_VAR": str(tmp_path),
            "GENIE_SECRET_KEY": "kill",
            "GENIE_LOG_LEVEL": "ERROR",
            "GENIE_JUDGES": "stand-in",
            "GENIE_JUDGE_STAND_IN_URL": server.url,
            "GENIE_JUDGE_STAND_IN_PRIVATE": "yes",
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        }
        env.pop("DATABASE_URL", None)
        run = [sys.executable, "-c"]
        with subprocess.Popen([*run, SET_UP + BEGIN], cwd=ROOT, env=env) as first:
            until = time.monotonic() + 60
            while len(server.requests) < 8 and time.monotonic() < until:
                time.sleep(0.02)
            first.kill()
        asked = len(server.requests)
        assert 8 <= asked < 20
        answer = subprocess.run(
            [*run, SET_UP + GO_ON], cwd=ROOT, env=env, check=True, capture_output=True
        )
        early, state, spent, approved, costs, n = json.loads(answer.stdout)
        assert (early, state, n) == ("RUNNING", "DONE", 20)
        states = [state for state, _ in costs]
        lost = states.count("LOST")
        # at most as many as were under way at once, and counted as the most
        assert 1 <= lost <= 3
        assert states.count("PAID") == 20 == len(states) - lost
        assert spent == sum(cents for _, cents in costs) <= approved * 1_000_000
        assert len(server.requests) <= 20 + lost
        assert len(server.n_by_key) == 20
