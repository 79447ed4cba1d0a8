"""A score is provisional until cleaning has settled; after that it changes once a day."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from crowd.models import Campaign, Worker
from leaderboard import jobs as steps
from leaderboard.boards.selectors.rows import standings
from leaderboard.boards.selectors.submission_progress import (
    score_changes,
    scores_of,
    still_open,
)
from leaderboard.evaluation import rescoring
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors import unsettled
from leaderboard.evaluation.services import score
from leaderboard.evaluation.services.refit import AGAIN
from leaderboard.evaluation.services.simulate import Crowd
from leaderboard.models import Rescoring, Score, Submission, SubmissionEvent
from quality.appeals import services as appeals
from quality.bans import services
from quality.models import Ban
from tests.crowd.campaigns.test_races import at_once
from tests.kept import kept
from tests.leaderboard.evaluation.days import a_day_later
from tests.leaderboard.evaluation.steps import ask, launch, settle


@pytest.fixture
def start(task, hand_in, good, boss, diligent):
    def begun(name):
        return launch(hand_in(good, simulated=True, name=name), boss)

    def begin(name):
        return kept("begun", lambda: begun(name), (name, task.config))

    return begin


@pytest.fixture
def two_published(start, diligent, quality):
    def work():
        made = [start("First"), start("Second")]
        Crowd(diligent, quality=quality, seed=1).work()
        settle()
        return made

    return kept("two published", work)


def current() -> Score:
    return Score.own.get(superseded_at=None)


def appealed(worker: Worker, pool: str):
    return appeals.against_ban(worker, pool, "I read every text.")


def test_a_score_of_which_nothing_is_open_is_final_at_once(published, client, task):
    assert not current().provisional
    assert published.human_evaluation.final_at is not None
    assert still_open(published, scores_of(published)) == []
    board = client.get(reverse("leaderboard:board", args=[task.slug]))
    assert 'class="tag warn">provisional' not in board.text
    events = SubmissionEvent.objects.filter(submission=published)
    assert not events.filter(sentence=rescoring.FINAL).exists()


def test_an_open_appeal_keeps_it_provisional_and_every_page_says_so(
    task, diligent, quality, boss, client, request
):
    # Without money to ask again: what is left out now may come back.
    ask(task, repost_share=0.0, sample_size=20)
    submission = request.getfixturevalue("annotating")
    crowd = Crowd(diligent, quality=quality, seed=1)
    # One answer: without it the score still has enough of its instances.
    assert crowd.do_hit(diligent[0])
    Crowd(diligent[1:], quality=quality, seed=1).work()
    services.ban(diligent[0].worker, task.slug, by=boss, reason="A complaint.")
    Ban.own.update(created_at=timezone.now() - timedelta(minutes=5))
    appeal = appealed(diligent[0].worker, task.slug)
    settle()
    settle()
    submission.refresh_from_db()
    assert submission.state == "PUBLISHED"
    assert current().provisional
    assert still_open(submission, scores_of(submission)) == [
        "1 appeal to be decided by staff"
    ]

    pages = {
        "board": client.get(reverse("leaderboard:board", args=[task.slug])),
        "system": client.get(reverse("leaderboard:submission", args=[submission.pk])),
        "front": client.get("/"),
    }
    for name, page in pages.items():
        assert "provisional" in page.text.lower(), name
    assert "1 appeal to be decided by staff" in pages["system"].text
    told = client.get(f"/api/v1/submissions/{submission.pk}/").json()
    assert told["scores"][0]["provisional"] is True
    assert told["provisional_because"] == ["1 appeal to be decided by staff"]
    row = client.get(f"/api/v1/tasks/{task.slug}/leaderboard/").json()["results"][0]
    assert row["human"]["provisional"] is True
    for form, word in {
        "csv": "True",
        "json": '"provisional": true',
        "tex": "dagger",
    }.items():
        address = reverse("leaderboard:board-export", args=[task.slug, form])
        assert word.lower() in client.get(address).text.lower(), form

    assert appeals.uphold(appeal.pk, by=boss, sentence="It was careless.")
    settle()
    assert not current().provisional
    final = SubmissionEvent.objects.filter(sentence=rescoring.FINAL)
    assert final.count() == 1
    settle()
    assert final.count() == 1


def test_a_score_waits_for_campaigns_of_the_time_in_which_its_workers_are_tested(
    start, diligent, quality
):
    first, second = start("First"), start("Second")
    crowd = Crowd(diligent, quality=quality, seed=1)
    one = first.human_evaluation.campaign
    other = second.human_evaluation.campaign
    Campaign.objects.filter(pk=other.pk).update(state="PAUSED")
    crowd.work()
    Campaign.objects.filter(pk=other.pk).update(state="RUNNING")
    crowd.do_hit(diligent[0])
    settle()
    first.refresh_from_db()
    assert (first.state, one.state) == ("PUBLISHED", "RUNNING")
    assert still_open(first, scores_of(first)) == [unsettled.OTHERS]
    HumanEvaluation.objects.filter(pk=first.human_evaluation.pk).update(
        finished_at=timezone.now() - timedelta(days=8)
    )
    settle()
    assert not first.scores.get(superseded_at=None).provisional


def test_later_bans_change_a_final_score_once_a_day_with_reason_and_difference(
    published, diligent, quality, boss, task, client
):
    first = current()
    for player in diligent[:2]:
        services.ban(player.worker, task.slug, by=boss, reason="A complaint.")
    settle()
    second = current()
    assert second.n < first.n
    assert second.reason == "2 workers excluded after publication"
    services.ban(diligent[2].worker, task.slug, by=boss, reason="A complaint.")
    for _ in range(3):
        settle()
    assert current() == second
    a_day_later()
    settle()
    third = current()
    assert third.reason == "1 worker excluded after publication"
    told = score_changes(published, scores_of(published))
    assert [(c.before, c.after, c.reason) for c in told] == [
        (first.mean, second.mean, second.reason),
        (second.mean, third.mean, third.reason),
    ]
    assert told[0].difference == pytest.approx(second.mean - first.mean)
    page = client.get(reverse("leaderboard:submission", args=[published.pk]))
    assert "2 workers excluded after publication" in page.text
    api = client.get(f"/api/v1/submissions/{published.pk}/").json()["score_changes"]
    assert [line["reason"] for line in api] == [second.reason, third.reason]
    assert [row.n_changed for row in Rescoring.objects.all()] == [1, 1]


def test_all_scores_of_a_task_change_together(two_published, diligent, boss, task):
    services.ban(diligent[0].worker, task.slug, by=boss, reason="A complaint.")
    settle()
    assert Rescoring.objects.get().n_changed == 2
    for system in two_published:
        # beside what the other's publication moved
        assert system.scores.exclude(reason=AGAIN).count() == 2


def test_a_ban_that_changes_no_score_does_not_use_the_day_up(
    published, diligent, boss, task
):
    stranger = Worker.objects.create(
        pseudonym="stranger", platform="selfhosted", simulated=True
    )
    services.ban(stranger, task.slug, by=boss, reason="A complaint.")
    settle()
    assert not Rescoring.objects.exists()
    services.ban(diligent[0].worker, task.slug, by=boss, reason="A complaint.")
    settle()
    assert Rescoring.objects.get().n_changed == 1


class Killed(BaseException):
    pass


@pytest.mark.parametrize("dies_in", ["compute_scores", "write"])
def test_a_job_that_dies_has_changed_nothing_and_the_next_one_does_all(
    two_published, diligent, boss, task, monkeypatch, dies_in
):
    services.ban(diligent[0].worker, task.slug, by=boss, reason="A complaint.")
    real, calls = getattr(score, dies_in), []

    def dies_the_second_time(*args, **kwargs):
        calls.append(args)
        if len(calls) == 2:
            raise Killed
        return real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(score, dies_in, dies_the_second_time)
        with pytest.raises(Killed):
            steps.rescore_task(task.pk)
    assert not Rescoring.objects.exists()
    assert not Score.own.exclude(reason__in=["", AGAIN]).exists()
    steps.rescore_task(task.pk)
    assert Rescoring.objects.get().n_changed == 2
    steps.rescore_task(task.pk)
    assert Rescoring.objects.count() == 1


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_two_jobs_at_once_change_the_scores_once(published, diligent, boss, task):
    services.ban(diligent[0].worker, task.slug, by=boss, reason="A complaint.")
    at_once(*[lambda: steps.rescore_task(task.pk)] * 2)
    assert Rescoring.objects.count() == 1
    assert Score.own.count() == 2


def test_scores_that_cannot_be_computed_do_not_keep_the_others(
    two_published, diligent, boss, task, monkeypatch
):
    services.ban(diligent[0].worker, task.slug, by=boss, reason="A complaint.")
    real = score.compute_scores
    broken = Submission.objects.get(system_name="First").human_evaluation.pk

    def computed(evaluation):
        if evaluation.pk == broken:
            raise ValueError("nothing fits")
        return real(evaluation)

    monkeypatch.setattr(score, "compute_scores", computed)
    assert rescoring.rescore(task.pk) == 1


def test_what_the_last_check_takes_out_is_collected_again_first(
    annotating, diligent, quality, boss, task, monkeypatch
):
    submission = annotating
    Crowd(diligent, quality=quality, seed=1).work()
    real = rescoring.campaigns.grade_and_judge

    def bans(*args, **how):
        real(*args, **how)
        if Submission.objects.get(pk=submission.pk).published_at:
            services.ban(diligent[0].worker, task.slug, by=boss, reason="Found out.")

    monkeypatch.setattr(rescoring.campaigns, "grade_and_judge", bans)
    settle()
    assert current().provisional
    assert current().n == 12
    settle()
    submission.refresh_from_db()
    assert still_open(submission, scores_of(submission)) == [unsettled.REPLACEMENTS]
    Crowd(diligent[1:], quality=quality, seed=2).work()
    settle()
    assert not current().provisional
    assert (current().n, current().n_excluded_workers) == (12, 1)
    assert Submission.objects.get(pk=submission.pk).scores.count() == 2


def test_a_past_board_says_what_was_provisional_then(published, task):
    evaluation = published.human_evaluation
    later = timezone.now() + timedelta(hours=1)
    HumanEvaluation.objects.filter(pk=evaluation.pk).update(final_at=later)
    now = standings(task)[0]
    then = standings(task, at=timezone.now())[0]
    assert (now.human.provisional, then.human.provisional) == (False, True)
