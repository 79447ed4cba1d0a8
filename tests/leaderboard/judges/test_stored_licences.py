"""Licences are written down once: given, refused, and expired when what they rest on moves."""

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard import jobs
from leaderboard.judges.selectors.licenses import licensed_rows, standing_license
from leaderboard.judges.selectors.validation import validation_of
from leaderboard.judges.services import license as service
from leaderboard.models import JudgeAnswer, JudgeLicence, JudgeRun, OutsideMetric, Task
from tests.kept import kept
from tests.leaderboard.judges.test_licence import rated, run_of  # noqa: F401

# two systems make no metric board, and nobody planted commands
UNTOLD = {"metric board", "bias: injection"}


@pytest.fixture(autouse=True)
def _two_systems_are_enough(monkeypatch):
    def weighed(run, criterion):
        found = validation_of(run, criterion)
        return [one for one in found if one.name not in UNTOLD]

    monkeypatch.setattr(service, "validation_of", weighed)


def as_people(of):
    return lambda call: of.worth[call.submission_id, call.instance_id]


def against_people(of):
    return lambda call: 1 - of.worth[call.submission_id, call.instance_id]


@pytest.fixture
def given(rated):  # noqa: F811
    def make():
        run = run_of(rated, as_people(rated))
        service.look(run.pk)
        return run

    run = kept("licensed", make)
    run.worth = rated.worth
    return run


def rows():
    return list(JudgeLicence.objects.order_by("pk"))


def change(task, **human):
    task.config = {**task.config, "human": {**task.config["human"], **human}}
    task.save()


def test_a_job_gives_a_licence_once_and_says_on_what(rated):  # noqa: F811
    run = run_of(rated, as_people(rated))
    assert service.look_at_all() == 1
    jobs.license_judge(run.pk)
    (row,) = rows()
    assert (row.state, row.run, row.moved) == ("LICENSED", run, [])
    assert row.facts["model"] == "script words"
    assert row.facts["judge"] == run.judge.signature
    assert row.facts["crowd"] == "Our own workers"
    assert rated.human.criteria["overall"] == row.facts["criterion"]
    assert service.look_at_all() == 0
    service.look(run.pk)
    assert rows() == [row]
    assert licensed_rows(rated) == [row]


@pytest.mark.every_engine
def test_noise_is_refused_once(rated):  # noqa: F811
    run = run_of(rated, against_people(rated))
    service.look(run.pk)
    service.look(run.pk)
    (row,) = rows()
    assert row.state == "REFUSED"
    assert {one["name"] for one in row.reasons if not one["holds"]} >= {"agreement"}
    assert licensed_rows(rated) == []


@pytest.mark.parametrize(
    ("human", "name"),
    [
        ({"platform": "prolific"}, "crowd"),
        ({"requirements": {"countries": ["DE"]}}, "requirements"),
        ({"canary": True}, "HIT template"),
        ({"scale": "slider-100"}, "scale"),
        ({"criteria": {"overall": "Is it fluent?"}}, "criterion"),
        ({"instructions": "Read twice."}, "instructions"),
    ],
)
def test_a_licence_expires_with_what_it_was_given_on(given, human, name):
    change(given.task, **human)
    assert service.look_at_all() == 1
    service.look(given.pk)
    first, last = rows()
    assert (first.state, last.state) == ("LICENSED", "EXPIRED")
    (said,) = [one for one in last.moved if one.startswith(f"{name}: ")]
    assert said == f"{name}: {first.facts[name]}, now {last.facts[name]}"
    service.look(given.pk)
    assert len(rows()) == 2
    assert licensed_rows(given.task) == []


def test_another_model_under_the_same_name_expires_it(given):
    later = run_of(given.task, as_people(given), occasion="May")
    answers = JudgeAnswer.objects.filter(pk__in=later.calls.values("answer"))
    answers.update(model="script words", fingerprint="fp-2")
    service.look(later.pk)
    last = rows()[-1]
    assert (last.state, last.run) == ("EXPIRED", given)
    assert last.moved == ["model: script words, now script words fp-2"]
    # the same evidence does not give back at once what it took
    service.look(later.pk)
    assert len(rows()) == 2
    assert service.decide(later, "overall", anew=True).state == "LICENSED"
    assert [row.run for row in licensed_rows(given.task)] == [later]


def test_drift_expires_it_and_the_same_answers_do_not(given):
    same = run_of(given.task, as_people(given), occasion="May")
    service.look(same.pk)
    assert len(rows()) == 1
    other = run_of(given.task, against_people(given), occasion="June")
    service.look(other.pk)
    last = rows()[-1]
    assert last.state == "EXPIRED"
    (said,) = last.moved
    assert said.startswith("drift: ")
    assert said.endswith(f"(run {other.pk})")


def test_a_later_run_can_earn_what_had_expired(given):
    change(given.task, instructions="Read twice.")
    service.look(given.pk)
    # a person's word does not help answers to another question
    assert service.decide(given, "overall", anew=True) is None
    later = run_of(given.task, as_people(given), occasion="again")
    service.look(later.pk)
    assert [row.state for row in rows()] == ["LICENSED", "EXPIRED", "LICENSED"]
    assert standing_license(given.judge, given.task, "overall").run == later


def test_a_run_that_never_had_a_row_is_not_taken_for_one_of_today(given):
    same = run_of(given.task, as_people(given), occasion="May")
    service.look(same.pk)
    change(given.task, instructions="Read twice.")
    service.look(same.pk)
    assert rows()[-1].state == "EXPIRED"
    assert service.decide(same, "overall", anew=True) is None
    change(given.task, instructions="")
    as_it_was = JudgeRun.objects.get(pk=same.pk)
    assert service.decide(as_it_was, "overall", anew=True).state == "LICENSED"


def test_a_small_run_that_looks_for_drift_leaves_the_board_alone(given):
    given.task.refresh_from_db()
    small = run_of(given.task, as_people(given), occasion="May", n_instances=5)
    service.look(small.pk)
    assert len(rows()) == 1
    (metric,) = OutsideMetric.objects.filter(withdrawn_at=None)
    assert metric.judged.run == given


def test_another_crowd_has_to_rate_first(given):
    change(given.task, platform="prolific")
    service.look(given.pk)
    assert rows()[-1].moved == ["crowd: Our own workers, now Prolific"]
    # nobody there has rated: it stays expired
    assert service.decide(given, "overall", anew=True) is None
    for evaluation in given.task.human_evaluations.all():
        campaign = evaluation.campaign
        campaign.platform = "prolific"
        campaign.save()
    given.finished_at = timezone.now() + timedelta(minutes=1)
    given.save()
    assert service.decide(given, "overall").state == "LICENSED"
    assert Task.own.get().judge_runs.count() == 1
