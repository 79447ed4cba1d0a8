"""Licensed judges help people's scores beside the plain ones; without a licence, nothing."""

import csv
import io

import numpy as np
import pytest
from django.urls import reverse

from crowd.hits.models import Campaign, Rating
from leaderboard.boards.selectors import columns
from leaderboard.evaluation import estimates
from leaderboard.evaluation.estimates import from_json
from leaderboard.evaluation.selectors.board_ratings import current_fit
from leaderboard.evaluation.selectors.system_ratings import system_ratings
from leaderboard.evaluation.services import refit, score
from leaderboard.judges.selectors.scores import scores_of
from leaderboard.judges.services.estimate import estimate, estimate_all
from leaderboard.models import JudgedEstimate, JudgeLicence, Score, Submission
from leaderboard.releases import bundle
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.estimates import Estimates
from leaderboard.stats.judges.with_people import judged_mean
from leaderboard.stats.systems.ranks import rank_systems
from leaderboard.tasks.services import configuration
from tests.factories import answer, make_evaluation, make_task, make_worker
from tests.kept import kept
from tests.leaderboard.judges.conftest import add_system, approved, make_script, worked
from tests.leaderboard.judges.test_licence import say

N, N_PEOPLE = 120, 40


@pytest.fixture
def board():
    rng = np.random.default_rng(1)
    worth, off = [], []
    for level in range(2):
        worth.append(rng.uniform(0.2, 0.7, N) + 0.1 * level)
        off.append(rng.normal(0, 0.1, (N_PEOPLE, 2)))
    task, *systems = kept("people's board", lambda: rated_by_people(worth, off))
    task.systems = systems
    task.worth = {
        (system.pk, at): float(of[at])
        for system, of in zip(systems, worth, strict=True)
        for at in range(N)
    }
    return task


def rated_by_people(worth, off):
    task = make_task(n_instances=N, sample_size=N_PEOPLE)
    people = [make_worker() for _ in range(8)]
    systems = []
    for level, name in enumerate(("Kite", "Wren")):
        system = add_system(task, name, lambda at: f"Text {at}.", state="PUBLISHED")
        systems.append(system)
        evaluation = make_evaluation(system, n=N_PEOPLE)
        for number, judged in enumerate(evaluation.subjects.order_by("pk")):
            is_worth = worth[level][judged.instance.position] + off[level][number]
            for turn, value in zip((0, 3), np.clip(is_worth, 0, 1), strict=True):
                person = people[(number + turn) % 8]
                answer(judged.item, person, float(round(4 * value) / 4))
        score.write(evaluation, score.compute_scores(evaluation))
    refit.refit_board(task)
    return [task, *systems]


def judged_by(task, worth, *, name="words", state="LICENSED", **wish):
    """Let a script score everything, put other words into its mouth, and license it."""
    run = worked(approved(make_script(name=name), task, n_instances=N, **wish))
    say(run, worth)
    return JudgeLicence.objects.create(run=run, criterion="overall", state=state)


def judged(task):
    return kept("a judge that knows", lambda: judged_by(task, knows(task)))


def knows(task):
    return lambda call: task.worth[call.submission_id, call.instance.position]


def by_hand(task, system, licence):
    """Compute it from the stored ratings and answers, with nothing of the service."""
    ratings = system_ratings(system.human_evaluation)
    told = scores_of(licence.run, "overall")[system.pk]
    estimate = JudgedEstimate.objects.get(submission=system)
    return judged_mean(
        100 * ratings["value"].to_numpy(),
        ratings["worker"].to_numpy(),
        ratings["instance"].to_numpy(int),
        [told[at] for at in range(N)],
        seed=estimate.seed,
    )


def test_an_interval_ends_where_the_scale_ends(board):
    judged(board)
    # one of eight people finds everything bad, seven everything good
    strict = Rating.own.order_by("pk").first().assignment.worker
    Rating.own.update(value=1.0)
    Rating.objects.filter(assignment__worker=strict).update(value=0.0)
    assert estimate(board) == 2
    for row in JudgedEstimate.objects.all():
        for shown in (row.helped, row.plain):
            assert 80 < shown["mean"] < shown["high"] == 100


def test_nothing_is_computed_twice_and_the_same_comes_out_again(board):
    judged(board)
    estimate_all()
    columns = [
        *("submission", "helped", "plain", "explained", "labels_saved"),
        *("foretold", "seed", "inputs_sha256"),
    ]
    first = list(JudgedEstimate.objects.order_by("pk").values_list(*columns))
    assert estimate(board) == 0
    JudgedEstimate.objects.all().delete()
    assert estimate(board) == 2
    assert list(JudgedEstimate.objects.order_by("pk").values_list(*columns)) == first


@pytest.mark.parametrize("state", ["REFUSED", "EXPIRED"])
def test_without_a_licence_that_stands_there_is_nothing(board, state):
    estimate_all()
    assert not JudgedEstimate.objects.exists()
    licence = judged(board)
    estimate_all()
    assert JudgedEstimate.objects.count() == 2
    JudgeLicence.objects.create(run=licence.run, criterion="overall", state=state)
    estimate_all()
    assert not JudgedEstimate.objects.exists()


def test_a_judge_of_what_people_rated_helps_nobody_and_is_not_asked_again(board):
    run = worked(approved(make_script(), board))
    JudgeLicence.objects.create(run=run, criterion="overall", state="LICENSED")
    assert estimate(board) == 2
    assert estimate(board) == 0
    assert [row.helped for row in JudgedEstimate.objects.all()] == [{}, {}]


def test_what_people_are_simulated_for_is_helped_by_nobody(board):
    judged(board)
    board.systems[0].simulated = True
    board.systems[0].save()
    assert estimate(board) == 1
    # a private system's score is helped, too, once it is published
    other = Submission.objects.filter(pk=board.systems[1].pk)
    for changes, n in (({"visibility": "PRIVATE"}, 1), ({"published_at": None}, 0)):
        other.update(**changes)
        JudgedEstimate.objects.all().delete()
        assert estimate(board) == n


def test_an_answer_that_is_missing_leaves_nothing_out(board):
    licence = judged(board)
    first = board.systems[0]
    calls = licence.run.calls.filter(submission=first, instance__position__lt=5)
    calls.update(state="INVALID")
    estimate(board)
    row = JudgedEstimate.objects.get(submission=first)
    assert (row.n_people, row.n_judge) == (N_PEOPLE, N)
    assert row.plain["mean"] == pytest.approx(
        first.scores.get(superseded_at=None).estimates["plain"]["mean"], abs=1e-6
    )


def test_ratings_that_are_all_the_same_have_no_interval_without_width(board):
    judged(board)
    kite, wren = board.systems
    evaluation = kite.human_evaluation
    items = evaluation.subjects.values_list("item")
    Rating.objects.filter(item__in=items).update(value=1.0)
    score.write(evaluation, score.compute_scores(evaluation))
    estimate(board)
    assert JudgedEstimate.objects.get(submission=kite).helped == {}
    assert JudgedEstimate.objects.get(submission=wren).helped


def test_no_helped_score_lies_beyond_its_scale(board):
    kite = board.systems[0]
    # people were shown the worst; straight lines lead beyond what anybody can say
    ratings = system_ratings(kite.human_evaluation).groupby("instance")["value"].mean()
    judged_by(
        board, lambda call: ratings.get(call.instance.position, ratings.max() + 3)
    )
    estimate(board)
    row = JudgedEstimate.objects.get(submission=kite)
    assert row.helped["high"] == 100
    assert 0 <= row.helped["low"] <= row.helped["mean"] <= 100


def test_both_numbers_stand_wherever_the_board_does(board, client):
    licence = judged(board)
    estimate(board)
    kite = board.systems[0]
    row = JudgedEstimate.objects.get(submission=kite)
    helped = f"{row.helped['mean']:.1f}"
    saved = f"{row.labels_saved:.0f} ({100 * row.labels_saved / N_PEOPLE:.0f}%)"
    places = [
        reverse("leaderboard:board", args=[board.slug]) + "?show=metrics",
        reverse("leaderboard:methods", args=[board.slug]),
        reverse("leaderboard:submission", args=[kite.pk]),
        *(f"/tasks/{board.slug}/board.{form}" for form in ("md", "tex")),
    ]
    for place in places:
        text = client.get(place).text.replace("\\", "")
        assert helped in text, place
        assert saved in text, place
        assert "words 1 (a script)" in text, place
    table = client.get(f"/tasks/{board.slug}/board.csv").text
    first = next(iter(csv.DictReader(io.StringIO(table))))
    whose = JudgedEstimate.objects.get(submission=first["submission"])
    assert float(first["with_judges_overall_mean"]) == whose.helped["mean"]
    assert float(first["with_judges_overall_plain_low"]) == whose.plain["low"]
    api = client.get(f"/api/v1/tasks/{board.slug}/leaderboard/").json()["results"]
    one = client.get(f"/api/v1/submissions/{kite.pk}/").json()["with_judges"]["overall"]
    assert {**row.helped} == one["helped"]
    assert one in [each["with_judges"]["overall"] for each in api]
    exported = client.get(f"/tasks/{board.slug}/board.json").json()
    assert exported["judges"].startswith("With judges: words 1 (a script).")
    assert "Ranks use people’s ratings alone" in exported["judges"]
    # switched off as other columns are
    bare = client.get(places[0] + "?columns=team").text
    assert "labels saved" not in bare
    assert "Ranks use people’s ratings alone" in bare
    # gone in the moment in which the licence is
    JudgeLicence.objects.create(run=licence.run, criterion="overall", state="EXPIRED")
    for place in places:
        assert "a script" not in client.get(place).text
    assert "with_judges" not in client.get(f"/tasks/{board.slug}/board.csv").text
    assert client.get(f"/api/v1/submissions/{kite.pk}/").json()["with_judges"] == {}


def test_a_task_may_show_people_alone(board, client):
    judged(board)
    estimate(board)
    board.config = {**board.config, "judges": {"show": False}}
    board.save()
    page = client.get(reverse("leaderboard:board", args=[board.slug]))
    assert "a script" not in page.text


def test_what_judges_do_for_a_private_system_is_its_team_s(board, client):
    kite = board.systems[0]
    kite.visibility = "PRIVATE"
    kite.save()
    refit.refit_board(board)
    judged_by(board, knows(board), said={"private": True}, with_private=True)
    estimate(board)
    row = JudgedEstimate.objects.get(submission=kite)
    assert row.helped
    helped = f"{row.helped['mean']:.1f}"
    page = reverse("leaderboard:board", args=[board.slug])
    assert "Kite" not in (text := client.get(page).text)
    assert "a script" in text
    assert f"/tasks/{board.slug}/judges/#ranks" in text
    assert (
        client.get(reverse("leaderboard:submission", args=[kite.pk])).status_code == 404
    )
    client.force_login(kite.owner)
    text = client.get(page, {"show": "metrics"}).text
    assert "Kite" in text
    assert helped in text
    for form in ("csv", "json", "md"):
        assert "Kite" not in client.get(f"/tasks/{board.slug}/board.{form}").text


def test_a_task_may_rank_with_judges_as_long_as_their_licence_stands(board, client):
    licence = judged(board)
    board.config = {**board.config, "judges": {"rank": True}}
    board.save()
    board = type(board).objects.get(pk=board.pk)
    address = reverse("leaderboard:board", args=[board.slug])
    assert "Ranks use people’s ratings alone" in client.get(address).text
    estimate(board)
    assert refit.due() == [board.pk]
    refit.refit_board(board)
    assert refit.due() == []
    stored = current_fit(board).criteria["overall"]
    fit = estimates.read(stored).fit
    for row in JudgedEstimate.objects.all():
        place = fit.systems.index(str(row.submission_id))
        assert fit.means[place] == pytest.approx(row.helped["mean"], rel=1e-6)
    assert fit.means.tolist() != from_json(stored).means.tolist()
    ranks = rank_systems(fit)
    for one in Score.own.filter(superseded_at=None):
        assert one.cluster == ranks.cluster_of(str(one.submission_id))
    assert "with the help of licensed judges" in client.get(address).text
    exported = client.get(f"/tasks/{board.slug}/board.json").json()
    assert "with the help of licensed judges" in exported["rank_rule"]
    # people rank in the moment in which the licence is gone, and the board says so
    JudgeLicence.objects.create(run=licence.run, criterion="overall", state="EXPIRED")
    text = client.get(address).text
    assert "no licensed judge can rank" in text
    assert columns.field_of(board, frozenset()).by_scores
    assert refit.due() == [board.pk]
    refit.refit_board(board)
    assert "judged" not in current_fit(board).criteria["overall"]
    assert not columns.field_of(board, frozenset()).by_scores


def test_help_that_ended_for_one_system_ends_for_the_ranks_of_all(board):
    judged(board)
    kite = [board.systems[0].pk]
    other = judged_by(board, knows(board), name="other", submissions=kite)
    board.config = {**board.config, "judges": {"rank": True}}
    board.save()
    board = type(board).objects.get(pk=board.pk)
    estimate(board)
    assert sorted(len(row.judges) for row in JudgedEstimate.objects.all()) == [1, 2]
    refit.refit_board(board)
    assert not columns.field_of(board, frozenset()).by_scores
    JudgeLicence.objects.create(run=other.run, criterion="overall", state="EXPIRED")
    assert columns.field_of(board, frozenset()).by_scores
    estimate(board)
    refit.refit_board(board)
    assert not columns.field_of(board, frozenset()).by_scores


def test_rank_sums_are_people_s_alone():
    human = {"ranks": "rank-sums", "estimate": "z"}
    found = configuration.misfits({"judges": {"rank": True}, "human": human}).together
    assert "judges.rank" in [one.key for one in found]


def test_ranks_with_judges_come_out_of_a_release_again(board, tmp_path):
    judged(board)
    board.config = {**board.config, "judges": {"rank": True}}
    board.save()
    # over: which instances people judged may be known
    Campaign.own.update(state=Campaign.State.COMPLETE)
    board = type(board).objects.get(pk=board.pk)
    estimate(board)
    refit.refit_board(board)
    folder = make(board, tmp_path / "release").folder
    manifest = bundle.read_manifest(folder)
    assert manifest["ranked_with_judges"] is True
    again = list(Estimates(folder, manifest).ranks())
    assert len(again) == 6
    assert all(one.published == one.computed for one in again)
