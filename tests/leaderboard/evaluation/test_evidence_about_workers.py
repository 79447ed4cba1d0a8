"""One page has all evidence about a worker; it names what is unusual and excludes nobody."""

import re

import numpy as np
import pytest
from django.urls import reverse

from crowd.models import Assignment, Telemetry
from leaderboard.models import MetricResult, OutsideMetric, OutsideScores
from quality.models import Ban, Grade, HeldExclusion, TestQuestion
from tests.crowd.making import text_of
from tests.factories import (
    CONFIG,
    answer,
    make_evaluation,
    make_submission,
    make_task,
    make_team,
    make_user,
    make_worker,
    signed_in,
)
from tests.kept import kept

N = 40


@pytest.fixture
def owner():
    return make_user("nina")


@pytest.fixture
def judge():
    return np.random.default_rng(0).normal(size=N)


@pytest.fixture
def crowd(owner, judge):
    """Ten people and one who copies the judge, all about the same outputs."""
    return kept("ten people and a copyist", lambda: at_work(owner, judge))


def at_work(owner, judge):
    with_judge = {"human": {**CONFIG["human"], "judge": "gpt"}}
    task = make_task(n_instances=N, sample_size=N, config=with_judge)
    team = make_team("Heron", owner)
    submission = make_submission(task, team=team, owner=owner, state="ANNOTATING")
    items = list(make_evaluation(submission).campaign.items.order_by("pk"))
    rng = np.random.default_rng(1)
    quality, workers = rng.normal(size=N), [make_worker() for _ in range(11)]
    for place, worker in enumerate(workers):
        felt = judge if place == 0 else quality
        felt = felt + 0.6 * rng.normal(size=N)
        for item, value in zip(
            items, np.clip(np.round(felt + 2), 0, 4) / 4, strict=True
        ):
            answer(item, worker, float(value), active_seconds=9.0 + place)
    outside = OutsideMetric.objects.create(task=task, owner=owner, name="gpt", file_name="f", file_sha256="0", file_format="json")  # fmt: skip
    OutsideScores.objects.create(metric=outside, submission=submission, value=0, per_instance=judge.tolist())  # fmt: skip
    return workers


@pytest.fixture
def boss():
    return signed_in(make_user("ada", is_staff=True, is_superuser=True))


def page(client, worker):
    response = client.get(
        reverse("admin:leaderboard_worker_evidence", args=[worker.pk])
    )
    assert response.status_code == 200
    return text_of(response)


def test_who_copies_the_judge_looks_unusual_and_stays(crowd, boss):
    shown = page(boss, crowd[0])
    assert "Similarity to gpt" in shown
    assert re.search(r"Similarity to gpt .{0,250}? unusual", shown)
    assert "times as likely from a program" in shown
    assert "95% interval" in shown
    assert not Ban.own.exists()
    assert not HeldExclusion.own.exists()


def test_people_look_usual(crowd, boss):
    unusual = sum(" unusual " in page(boss, worker).partition("tidy-news")[2].replace("can look unusual", "") for worker in crowd[1:])  # fmt: skip
    assert unusual <= 2


def test_the_pages_counts_stand_there_with_those_of_others(crowd, boss):
    for work in Assignment.objects.filter(worker=crowd[1])[:6]:
        Telemetry.objects.create(assignment=work, first_change_seconds=4, n_pastes=3, n_focus_losses=5)  # fmt: skip
    shown = page(boss, crowd[1])
    assert "On 6 pages: left the page 5.00 times per HIT (other workers: 0.00)" in shown
    assert "pasted 3.00 times" in shown
    assert "Never filled in" in shown
    Telemetry.objects.filter(assignment__worker=crowd[1]).update(canary=True)
    assert "entered on 6 of 6 pages" in page(boss, crowd[1])


def test_tests_and_waiting_exclusions_stand_on_it(crowd, boss):
    work = Assignment.objects.filter(worker=crowd[1]).first()
    test_question = TestQuestion.objects.create(campaign=work.hit.campaign, item=work.hit.items.get(), polarity="NEGATIVE")  # fmt: skip
    Grade.objects.create(test_question=test_question, assignment=work, worker=crowd[1], pool_id="tidy-news", polarity="NEGATIVE", correct=True)  # fmt: skip
    shown = page(boss, crowd[1])
    assert "1 of 1 test questions right; too few" in shown
    links = boss.get(reverse("admin:quality_grade_worker", args=[crowd[1].pk])).text
    address = reverse("admin:leaderboard_worker_evidence", args=[crowd[1].pk])
    assert address in links
    assert address in boss.get(reverse("admin:crowd_worker_change", args=[crowd[1].pk])).text  # fmt: skip


def test_a_metric_of_the_site_is_a_judge_too_and_takes_precedence(crowd, boss, judge):
    OutsideScores.objects.all().delete()
    assert "Too few answers to texts that the judge has scored" in page(boss, crowd[0])
    submission = OutsideMetric.objects.get().task.submissions.get()
    MetricResult.objects.create(submission=submission, metric="gpt", value=1, per_instance=[None, *judge[1:].tolist()], signature="s")  # fmt: skip
    assert "the correlation with the judge's" in page(boss, crowd[0])


def test_who_has_done_nothing_has_no_evidence(boss):
    text = page(boss, make_worker())
    assert "not started any work yet" in text
    assert "There is no evidence about this worker" in text
    assert "0 of 0" not in text
    address = reverse("admin:leaderboard_worker_evidence", args=[10**9])
    assert boss.get(address).status_code == 404


def test_nothing_of_it_is_public(crowd, client):
    Telemetry.objects.create(assignment=Assignment.own.first(), n_pastes=3)
    for path in ("/", "/api/", reverse("work:home")):
        assert "n_pastes" not in client.get(path).text
