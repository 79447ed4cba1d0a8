"""Board, differences, weights and files have one ranking, by whatever rule a task has."""

import re
from datetime import timedelta
from functools import partial
from html import unescape

import pytest
from django.db.models import F
from django.utils import timezone

from crowd.models import Assignment, Worker
from genie.lib.errors import GenieError
from leaderboard.boards.selectors import pairs
from leaderboard.boards.selectors.certainty import ranked_pks
from leaderboard.boards.selectors.weights import weighted_rows
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of
from leaderboard.evaluation.services.refit import AGAIN, due, holds, refit, refit_board
from leaderboard.models import (
    BoardFit,
    HumanEvaluation,
    Score,
    Submission,
    Task,
)
from leaderboard.releases.make import make
from leaderboard.stats.ranking import RANK_SUM_RULE
from leaderboard.stats.rater_effects import worker_z_scores
from leaderboard.stats.systems.estimates import COVERS_CROWD, COVERS_DAYS
from leaderboard.stats.systems.ranks import rank_sum_ranking
from tests.each import each
from tests.leaderboard.boards.pages.judged import judge

WAYS = [
    ("adjusted", "simultaneous"),
    ("plain", "simultaneous"),
    ("z", "simultaneous"),
    ("plain", "rank-sums"),
    ("z", "rank-sums"),
]


def rank_by(task, estimate, ranks):
    task.config["human"] |= {"estimate": estimate, "ranks": ranks}
    task.save()
    found = Task.objects.get(pk=task.pk)
    refit_board(found)
    return found


@each(("estimate", "ranks"), WAYS)
def test_board_differences_weights_and_files_agree(judged, client, estimate, ranks):
    judged = rank_by(judged, estimate, ranks)
    pks = ranked_pks(judged)
    board = client.get("/tasks/tidy-news/board.json").json()["rows"]
    of_board = {
        row["submission"]: (row["rank_first"], row["rank_last"]) for row in board
    }
    api = client.get("/api/v1/tasks/tidy-news/leaderboard/").json()["results"]
    rows = weighted_rows(judged, {"fluency": 1.0, "truth": 0.0})
    matrix = pairs.matrix(judged, pks, cents_per_rating=10.0)
    scores = {row["submission"]: row["human"]["mean"] for row in api}
    above = dict.fromkeys(pks, 0)
    for pair in matrix.pairs:
        above[pair.b.pk] += pair.apart
    tex = client.get("/tasks/tidy-news/board.tex").content.decode()

    assert {r["submission"]: (r["rank_first"], r["rank_last"]) for r in api} == of_board
    assert {r.system.pk: (r.ranks.first, r.ranks.last) for r in rows} == of_board
    assert {r.system.pk: r.interval.estimate for r in rows} == scores
    assert {pk: 1 + n for pk, n in above.items()} == {
        pk: first for pk, (first, _) in of_board.items()
    }
    for row in board:
        first, last = of_board[row["submission"]]
        rank = f"{first}" if first == last else f"{first}--{last}"
        assert re.search(rf"{rank} & {row['system']} &", tex)


def test_a_board_ranked_by_rank_sums_has_wmts_clusters_and_says_so(judged, client):
    judged = rank_by(judged, "z", "rank-sums")
    ratings = system_ratings_of(HumanEvaluation.own.values_list("pk", flat=True))
    ratings = ratings[ratings["criterion"] == "fluency"]
    z = worker_z_scores(ratings["value"].to_numpy(), ratings["worker"].to_numpy())
    direct = rank_sum_ranking(z, ratings["submission"], ratings["instance"])

    board = client.get("/tasks/tidy-news/board.json").json()
    assert board["rank_rule"].startswith(RANK_SUM_RULE)
    assert [str(row["submission"]) for row in board["rows"]] == direct.systems
    assert [(row["rank_first"], row["rank_last"]) for row in board["rows"]] == [
        (ranks.first, ranks.last) for ranks in direct.clusters
    ]
    assert [row["cluster"] for row in board["rows"]] == direct.ranking().clusters
    (first, *_) = client.get("/api/v1/tasks/tidy-news/differences/").json()["results"]
    assert first["p_value"] == pytest.approx(direct.p_values[0, 1], abs=1e-8)
    for path in ("/", "/weights/", "/board.tex"):
        page = unescape(client.get(f"/tasks/tidy-news{path}").content.decode())
        assert "Ranks are those of WMT" in page, path
        assert "Holm" not in page, path
    page = client.get("/tasks/tidy-news/pairs/").content.decode()
    assert "by unpaired one-sided rank-sum tests, not corrected" in page
    told = client.get("/api/v1/tasks/tidy-news/").json()["human"]
    assert (told["estimate"], told["ranks"]) == ("z", "rank-sums")


def numbers_of(pk):
    scores = Score.objects.filter(submission=pk, superseded_at=None)
    return dict(scores.values_list("criterion", "estimates"))


def test_a_newcomer_moves_the_others_numbers_once_a_day_and_their_ranks_at_once(
    judged, team, submitter, monkeypatch, tmp_path
):
    # the last one has not moved today, the others did when it came
    pks = sorted(ranked_pks(judged))[:2]
    before = {pk: numbers_of(pk) for pk in pks}
    workers = list(Worker.own.order_by("pk"))
    both = {"owner": submitter, "team": team, "workers": workers}
    with monkeypatch.context() as patch:
        patch.setattr(
            "tests.leaderboard.boards.pages.judged.refit_board",
            partial(refit_board, hold=True),
        )
        new = judge(judged, {"fluency": 1.0, "truth": 1.0}, seed=9, **both)
    assert {pk: numbers_of(pk) for pk in pks} == before
    assert holds(judged)
    scores = Score.own.filter(criterion="fluency", superseded_at=None)
    ranks = {s.submission_id: s.rank_first for s in scores}
    assert ranks[new.pk] == 1
    assert min(ranks[pk] for pk in pks) == 2
    assert judged.pk not in due()
    with pytest.raises(GenieError, match="about to"):
        make(judged, tmp_path / "release")

    day = timedelta(days=1)
    Score.own.update(created_at=F("created_at") - day)
    BoardFit.objects.update(holds_until=F("holds_until") - day)
    assert judged.pk in due()
    refit_board(judged, hold=True)
    assert not holds(judged)
    assert any(numbers_of(pk) != before[pk] for pk in pks)
    again = Score.objects.filter(submission__in=pks, superseded_at=None)
    assert AGAIN in again.values_list("reason", flat=True)
    assert judged.pk not in due()


def test_what_a_withdrawn_private_system_held_keeps_no_board_due(judged):
    refit_board(judged)
    private = Submission.objects.filter(task=judged).order_by("pk").last()
    of_private = {"task": judged, "of": private, "criteria": {}, "evidence": {}}
    past = timezone.now() - timedelta(days=1)
    BoardFit.objects.create(**of_private, inputs_sha256="0" * 64, holds_until=past)
    row = Submission.objects.filter(pk=private.pk)
    row.update(visibility="PRIVATE")
    refit(judged)
    assert judged.pk in due()
    row.update(own_state="WITHDRAWN")
    refit_board(judged)
    assert judged.pk not in due()


def spread_over_days(task, n):
    """Let the ratings come on several days, all systems on each of them."""
    for place, assignment in enumerate(Assignment.own.order_by("pk")):
        at = timezone.now() - timedelta(days=place % n)
        Assignment.objects.filter(pk=assignment.pk).update(submitted_at=at)
    Score.own.update(fit=None)
    refit_board(task)


@each(("n", "covers"), [(2, COVERS_CROWD), (5, COVERS_DAYS)])
def test_days_are_covered_where_there_are_enough(judged, client, n, covers):
    spread_over_days(judged, n)
    rows = client.get("/api/v1/tasks/tidy-news/leaderboard/").json()["results"]
    assert {row["human"]["covers"] for row in rows} == {covers}
    for path in ("/", "/pairs/", "/weights/", "/methods/", "/board.tex"):
        assert covers in client.get(f"/tasks/tidy-news{path}").content.decode(), path
    (evidence, *_) = client.get("/api/v1/tasks/tidy-news/evidence/").json()["criteria"]
    assert (evidence["shares"]["day"] is not None) == (n == 5)
    page = client.get("/tasks/tidy-news/methods/").content.decode()
    assert ("Days: ratings are higher on some" in page) == (n == 5)
    both = weighted_rows(judged, {"fluency": 1.0, "truth": 1.0})
    assert len(both) == 3


def test_rank_sums_of_weighted_criteria_are_those_of_the_outputs(judged):
    judged = rank_by(judged, "plain", "rank-sums")
    found = weighted_rows(judged, {"fluency": 3.0, "truth": 1.0})
    ratings = system_ratings_of(HumanEvaluation.own.values_list("pk", flat=True))
    wide = ratings.pivot_table(
        index=["submission", "instance"], columns="criterion", values="value"
    )
    direct = rank_sum_ranking(
        0.75 * wide["fluency"] + 0.25 * wide["truth"],
        wide.index.get_level_values("submission"),
        wide.index.get_level_values("instance"),
    )
    assert [str(row.system.pk) for row in found] == direct.systems
    assert [row.ranks for row in found] == direct.clusters
