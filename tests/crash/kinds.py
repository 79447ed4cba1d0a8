"""Kill each kind of work at each attempt, until it is given up; print what it says then."""

import json
import os
import signal
import sys
from unittest.mock import patch

import django

django.setup()

from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from crowd.models import Requester, RequesterEvent  # noqa: E402
from crowd.requester.services import deliver  # noqa: E402
from leaderboard import jobs  # noqa: E402
from leaderboard import models as lb  # noqa: E402
from leaderboard.evaluation import machine  # noqa: E402
from leaderboard.evaluation.strategies.single_system import SingleSystem  # noqa: E402
from leaderboard.judges.services import decide, work  # noqa: E402
from leaderboard.metric_board import services as boards  # noqa: E402
from leaderboard.metric_runs import services as pieces  # noqa: E402
from leaderboard.releases import queued  # noqa: E402
from leaderboard.submissions.services import lifecycle  # noqa: E402
from leaderboard.teams.services import webhooks  # noqa: E402
from tests import factories  # noqa: E402
from tests.leaderboard.judges.conftest import make_script  # noqa: E402

owner, task, now = factories.make_user("ada"), factories.make_task(), timezone.now()
who = {"team": factories.make_team("Heron", owner), "owner": owner}
system = factories.make_submission(task, state="APPROVED", approved_cents=900, **who)
# its row, its runner, its job and the function that does it
KINDS = [
    (factories.make_submission(task, state="RECEIVED", **who), lifecycle.RUNNERS["RECEIVED"], jobs.validate, lifecycle, "validate"),
    (system.human_evaluation, machine.RUNNERS["APPROVED"], jobs.step_evaluation, SingleSystem, "launch"),
    (lb.MetricPiece.objects.create(first=0, end=3, submission=system, run=lb.MetricRun.objects.create(task=task)), pieces.RUNNER, jobs.measure_piece, pieces, "_compute"),
    (lb.MetricBoard.objects.create(task=task, seed=1, wanted_at=now), boards.RUNNER, jobs.compute_metric_board, boards, "_compute"),
    (lb.Release.objects.create(task=task), queued.RUNNER, jobs.make_release, queued, "_make"),
    (lb.JudgeRun.objects.create(judge=make_script(), task=task, state="RUNNING"), decide.RUNNER, jobs.judge, work, "_ask_some"),
    (webhooks.queue_test(lb.Webhook.objects.create(team=who["team"], created_by=owner)), webhooks.RUNNER, jobs.deliver, webhooks, "_deliver"),
    (RequesterEvent.objects.create(requester=Requester.objects.create(), body={}, created_at=now), deliver.RUNNER, deliver.deliver, deliver, "_deliver"),
]  # fmt: skip
found = []
for row, runner, job, where, name in KINDS:
    rows, n = type(row).objects.filter(pk=row.pk), 0
    with patch.object(where, name, lambda *_: os.kill(os.getpid(), signal.SIGKILL)):
        while row.pk in runner.due():
            connection.close()
            if not (child := os.fork()):
                os._exit(bool(job(row.pk)))  # there was nothing to begin
            n += os.WIFSIGNALED(os.waitpid(child, 0)[1])
            rows.update(next_at=now)  # its lease is over
    found.append((n, rows.get(failure_permanent=True).failure))
    assert (runner.retry(rows), runner.rows.filter(pk=row.pk).count()) == (1, 1)
json.dump(found, sys.stdout)
