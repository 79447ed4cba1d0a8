"""A task whose sample leaves instances out, and its campaigns."""

import json

import pytest

from crowd.models import Campaign
from crowd.workers.services import invitations
from leaderboard.demo import OPINIONS, file_of
from leaderboard.evaluation import run
from leaderboard.models import ConfirmedOutput
from tests.factories import (
    make_predictions,
    make_submission,
    make_task,
    make_team,
    make_user,
    make_worker,
)


def demo_system(task, system, *, team, owner, **fields):
    """Make a system of a demo's files; staff have confirmed the outputs that are right."""
    name = system["name"]
    made = make_submission(task, team=team, owner=owner, system=name, **fields)
    texts = json.loads(file_of(task.slug, name).read_text("utf-8"))
    said = {key: opinion for opinion in OPINIONS for key in system.get(opinion, ())}
    rows = make_predictions(made)
    for row in rows:
        row.text = texts[row.instance.instance_id]
    made.predictions.bulk_update(rows, ["text"])
    ConfirmedOutput.objects.bulk_create(
        ConfirmedOutput(prediction=row, confirmed_by=owner)
        for row in rows
        if said.get(row.instance.instance_id, system["usual"]) == "right"
    )
    return made


@pytest.fixture
def task_with(db):
    def make(n=40, sample_size=20, **human):
        task = make_task(n_instances=n, sample_size=sample_size)
        shares = {"positive_share": 0.2, "negative_share": 0.2}
        task.config["human"] |= shares | human
        task.save()
        return task

    return make


def launch(task, system="Kite", said=lambda _: None, **fields):
    """Send a system's outputs out to be judged; give the submission and its campaign."""
    user = make_user(f"nina-{system}-{task.pk}")
    submission = make_submission(
        task,
        team=make_team(f"Heron {system}", user),
        owner=user,
        system=system,
        state="APPROVED",
        approved_cents=100_000,
        start_now=True,
        **fields,
    )
    make_predictions(submission)
    said(submission)
    run.step(submission.human_evaluation_id)
    submission.refresh_from_db()
    assert submission.state == "ANNOTATING", submission.work.failure
    campaigns = Campaign.own.filter(key__contains=f":{submission.pk}")
    return submission, campaigns.earliest("pk")


@pytest.fixture
def launched():
    return launch


@pytest.fixture
def worker_of():
    def make(task, name="wren"):
        worker = make_worker(name=name)
        invitations.give_consent(worker, task.slug)
        return worker

    return make
