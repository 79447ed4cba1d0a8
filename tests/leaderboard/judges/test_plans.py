"""How money is split between people and a judge, where staff decide on it."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse

from leaderboard.judges.selectors.plans import plans_by, plans_of
from leaderboard.judges.services import define
from leaderboard.models import JudgeLicence
from tests.factories import (
    answer,
    make_evaluation,
    make_task,
    make_user,
    make_worker,
)
from tests.leaderboard.judges.conftest import add_system, approved, worked

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated():
    """Give a task of 60 instances, 40 of them judged, and a run that knows their worth."""
    task = make_task(n_instances=60, sample_size=40)
    system = add_system(task, "Kite", lambda at: f"Text {at}.", state="PUBLISHED")
    rng, worth = np.random.default_rng(1), {}
    people = [make_worker() for _ in range(4)]
    for judged in make_evaluation(system).judged_items.order_by("pk"):
        worth[judged.instance_id] = rng.choice([0.0, 0.5, 1.0])
        for person in people:
            answer(judged.item, person, worth[judged.instance_id])
    return run_of(task, lambda at: worth.get(at, 0.5))


def run_of(task, value_of, **wish):
    made = {"endpoint": "scripted", "model": "words"}
    run = worked(approved(define.make("words", "1", made, per_minute=0), task, **wish))
    for call in run.calls.all():
        call.values = {"overall": value_of(call.instance_id)}
        call.save()
    return run


def test_a_judge_that_costs_nothing_and_knows_all_is_asked_about_everything(rated):
    (plan,) = plans_by(rated)
    assert plan.pilot.explained > 0.95
    assert plan.split.n_judge == rated.task.n_instances
    assert plan.half_width < plan.half_width_alone
    assert not plan.usable
    assert "no offer" in plan.sentences[-1]


def test_only_a_licence_makes_it_usable(rated):
    def give(state):
        JudgeLicence.objects.create(run=rated, criterion="overall", state=state)
        return plans_of(rated.task)[0]

    assert give("LICENSED").usable
    assert "licence" not in " ".join(give("LICENSED").sentences)
    assert not give("EXPIRED").usable


def test_a_judge_that_knows_nothing_scores_none(rated):
    rng = np.random.default_rng(2)
    for call in rated.calls.all():
        call.values = {"overall": float(rng.random())}
        call.save()
    (plan,) = plans_by(rated)
    assert plan.split.n_judge == 0
    assert plan.half_width == plan.half_width_alone
    assert "not worth its money" in plan.sentences[1]


def test_there_is_no_plan_before_people_have_rated_anything():
    task = make_task(n_instances=30)
    add_system(task, "Kite", lambda at: f"Text {at}.")
    (plan,) = plans_by(run_of(task, lambda at: 0.5))
    assert plan.split is None
    assert "let people rate that many first" in plan.sentences[0]


def test_program_command_and_the_page_of_approval_say_the_same(rated, client):
    out = StringIO()
    call_command("judge", task=rated.task.slug, plan=500.0, stdout=out)
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    url = reverse("api:judge-run-plan", args=[rated.pk])
    (told,) = client.get(url, {"cents": 50_000}).json()["plans"]
    assert told["words"] == [line.strip() for line in out.getvalue().splitlines()]
    assert client.get(url, {"dollars": 5}).status_code == 400
    waiting = add_system(rated.task, "Wren", lambda at: "x", state="MEASURED")
    address = reverse("admin:leaderboard_submission_approve", args=[waiting.pk])
    page = client.get(address, {"dollars": "500"}).content.decode()
    assert told["words"][1] in page
    for wrong in ("nan", "-1", "much", "1e30"):
        assert client.get(address, {"dollars": wrong}).status_code == 200
    with pytest.raises(CommandError, match="above 0"):
        call_command("judge", task=rated.task.slug, plan=-1.0)
