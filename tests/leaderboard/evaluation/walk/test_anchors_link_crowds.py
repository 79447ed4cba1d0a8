"""A campaign carries outputs of a settled system, which tell whether the crowd moved."""

import pytest

from crowd.models import Assignment, Campaign, Commitment, LedgerEntry
from genie.lib import jobs
from leaderboard.boards.views.exports import public_table
from leaderboard.evaluation import decide
from leaderboard.evaluation.selectors.ranked_scores import anchor_of
from leaderboard.evaluation.services.refit import refit_board
from leaderboard.evaluation.services.simulate import Crowd
from leaderboard.models import (
    AnchorItem,
    BoardFit,
    HumanEvaluation,
    Score,
    Subject,
    Submission,
)
from leaderboard.releases import bundle
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.rebuild import rebuild
from leaderboard.releases.report import report
from quality.models import TestQuestion
from tests.factories import asked_about
from tests.kept import kept
from tests.leaderboard.evaluation.days import a_day_later
from tests.leaderboard.evaluation.steps import ask, now, settle


@pytest.fixture
def task(task):
    ask(task, anchor_share=0.25)
    return task


@pytest.fixture
def rated(hand_in, good, ids, boss, diligent, quality):
    """Hand a system in, have it rated, and wait until its score is final."""

    def rate(name, *, answer=quality, texts=good, visibility="PUBLIC", before=None):
        submission = hand_in(texts, name=name, simulated=True, visibility=visibility)
        jobs.drain()
        if before is not None:
            before(submission)
        decide.approve(asked_about(submission), by=boss, start_now=True)
        settle()
        Crowd(diligent, quality=answer, seed=1).work()
        for _ in range(3):
            settle()
            a_day_later()
        settle()
        return now(submission)

    return rate


@pytest.fixture
def first(rated, good, ids):
    half = {key: good[key] if i % 2 else good[ids[i - 2]] for i, key in enumerate(ids)}

    def settled():
        submission = rated("First", texts=half)
        HumanEvaluation.own.update(final_at=submission.published_at)
        Score.own.update(provisional=False)
        return submission

    return kept("a settled system", settled)


@pytest.fixture
def second(first, rated):
    return kept("a system linked to a settled one", lambda: rated("Second"))


def test_without_a_settled_system_there_is_no_anchor(rated):
    submission = rated("First")
    assert submission.state == "PUBLISHED"
    assert not AnchorItem.objects.exists()
    assert Score.own.get(superseded_at=None).link is None


def test_a_private_or_provisional_system_is_no_anchor(first, task):
    assert anchor_of(task, simulated=True).submission == first
    assert anchor_of(task) is None  # people's campaigns carry no simulated scores
    assert anchor_of(task, simulated=True, without=first.pk) is None
    Score.own.update(provisional=True)
    assert anchor_of(task, simulated=True) is None
    Score.own.update(provisional=False)
    Submission.objects.filter(pk=first.pk).update(visibility="PRIVATE")
    assert anchor_of(task, simulated=True) is None


def test_anchors_are_paid_within_the_price_and_look_like_everything_else(first, second):
    evaluation = second.human_evaluation
    campaign = evaluation.campaign
    anchors = AnchorItem.objects.filter(evaluation=evaluation)
    assert anchors.count() == 3  # a quarter of 12 instances
    assert {row.submission for row in anchors} == {first}
    tests = TestQuestion.own.filter(campaign=campaign)
    n_items = evaluation.subjects.count() + tests.count() + anchors.count()
    assert campaign.items.count() == campaign.hits.count() == n_items
    shapes = {tuple(sorted(item.data)) for item in campaign.items.all()}
    assert len(shapes) == 1
    assert {len(item.key) for item in campaign.items.all()} == {
        len(anchors[0].item.key)
    }
    tested = tests.values_list("item__content_key", flat=True)
    assert not set(tested) & {row.item.content_key for row in anchors}
    paid = LedgerEntry.objects.filter(campaign=campaign)
    n_done = Assignment.objects.filter(hit__campaign=campaign).count()
    assert sum(paid.values_list("amount_cents", flat=True)) == n_done * (
        campaign.hit_type.reward_cents
    )
    key = Commitment.own.get(key=campaign.key)
    assert key.amount_cents <= second.evaluation.approved_cents == campaign.budget_cents


def test_they_count_in_nobodys_score_and_leave_the_anchors_alone(first, request):
    before = Score.objects.get(submission=first, superseded_at=None)
    second = request.getfixturevalue("second")
    score = Score.objects.get(submission=second, superseded_at=None)
    assert (score.n, score.mean) == (12, pytest.approx(100, abs=25))
    # one of the twelve is rated twice
    assert sum(score.histogram.values()) == 13
    after = Score.objects.get(submission=first, superseded_at=None)
    assert (after.n, after.ratings_sha256) == (before.n, before.ratings_sha256)


def test_the_score_says_how_its_crowd_is_linked(first, second):
    link = Score.objects.get(submission=second, superseded_at=None).link
    assert link["anchor"] == first.pk
    assert link["n_outputs"] == 3
    assert link["low"] <= link["estimate"] <= link["high"]
    assert link["standard_error"] >= 0


def test_what_was_approved_without_anchor_has_none(hand_in, good, boss, first, task):
    second = hand_in(good, name="Second", simulated=True)
    jobs.drain()
    Score.own.update(provisional=True)
    decide.approve(asked_about(second), by=boss, start_now=True)
    Score.own.update(provisional=False)
    settle()
    assert Campaign.own.count() == 2
    assert not AnchorItem.objects.exists()


def test_pages_and_the_api_say_so_and_propose_to_ask_again(first, second, client, boss):
    fit = BoardFit.objects.get(of=None, superseded_at=None)
    (link,) = fit.evidence["overall"]["links"]
    board, evidence = "/tasks/demo-qa/", "/tasks/demo-qa/methods/"
    for low, high, words in [(-9, 1, "perhaps"), (-3, 2, "no"), (-30, -8, "yes")]:
        link |= {"low": low, "high": high, "estimate": low + 2}
        fit.save()
        text = client.get(evidence).text
        assert "Have the raters changed?" in text
        assert f"<td>{words}</td>" in text
        assert ("The raters have changed" in client.get(board).text) == (words == "yes")
    visitor = client.get(board).text
    assert "lower than earlier raters did" in visitor
    assert "Request it" not in visitor
    client.force_login(boss)
    staff = client.get(board).text
    assert "again side by side for $" in staff
    asked = client.get(f"/tasks/demo-qa/side-by-side/?systems={first.pk}").text
    assert "checked" in asked
    found = client.get("/api/v1/tasks/demo-qa/evidence/").json()["criteria"][0]["links"]
    assert [(one["system"], one["anchor"], one["moved"]) for one in found] == [
        (second.pk, first.pk, "yes")
    ]
    scores = client.get(f"/api/v1/submissions/{second.pk}/").json()["scores"]
    assert scores[0]["link"]["anchor"] == first.pk
    assert (
        "These raters’ ratings of 3 outputs"
        in client.get(f"/submissions/{second.pk}/").text
    )


def test_the_board_uses_anchors_and_a_release_has_them(second, task, tmp_path):
    def parts():
        fit = BoardFit.objects.get(of=None, superseded_at=None).criteria["overall"]
        return fit["means"], fit["n"]

    with_anchors = parts()
    folder = make(task, tmp_path / "release").folder
    assert not any("anchors" in line for line in rebuild(folder).skipped)
    assert len(bundle.read_table(folder, "anchors")) > 0
    AnchorItem.objects.all().delete()
    BoardFit.objects.update(inputs_sha256="")
    refit_board(task)
    means, n = parts()
    # ratings: two and one of the twelve outputs are rated twice
    assert n == with_anchors[1] == [14, 13]
    assert means != with_anchors[0]


def test_a_report_says_what_was_rated_for_all_and_what_twice(second, task, rf):
    def said():
        return report(public_table(rf.get("/"), task)).methods

    assert "2 systems for the same 12 randomly chosen instances of" in said()
    assert "1 rating per output and one more of 3 outputs, by direct" in said()
    Subject.objects.filter(evaluation=second.human_evaluation_id).first().delete()
    assert "2 systems for 12 randomly chosen instances each of" in said()
    assert "(11 the same for all), 1 rating" in said()
