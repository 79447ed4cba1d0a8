"""P(A > B), what is still needed, own weights, and the story over time."""

from __future__ import annotations

import re
from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.boards.selectors import pairs
from leaderboard.boards.selectors.shared_instances import ranked_pks, shared
from leaderboard.boards.selectors.weights import read_weights, weighted_rows
from leaderboard.evaluation.selectors.system_ratings import (
    system_ratings,
    system_ratings_of,
)
from leaderboard.models import HumanEvaluation, JudgedOutput, Score, Submission
from leaderboard.stats.all_pairs import compare_all
from leaderboard.stats.power import paired_power
from leaderboard.stats.weighted import resampled, weigh
from quality.models import Ban
from tests.factories import make_ranked, make_task, make_worker
from tests.leaderboard.boards.pages.judged import judge, rate

CRITERIA = {"fluency": "Is it fluent?", "truth": "Is it true?"}


@pytest.fixture
def judged(team, submitter):
    """Three systems on 40 instances, by two criteria: which is best depends on them."""
    task = make_task(n_instances=40, sample_size=40)
    task.config["human"]["criteria"] = CRITERIA
    task.save()
    workers = [make_worker() for _ in range(8)]
    both = {"owner": submitter, "team": team, "workers": workers}
    judge(task, {"fluency": 0.9, "truth": 0.3}, seed=1, system="Fluent", **both)
    judge(task, {"fluency": 0.3, "truth": 0.9}, seed=2, system="True", **both)
    judge(task, {"fluency": 0.86, "truth": 0.32}, seed=3, system="Near", **both)
    return task


def gathered(task, *criteria):
    return shared(task, ranked_pks(task), criteria or ["fluency"])


def test_the_tables_means_are_the_boards_scores(judged):
    found = gathered(judged, "fluency", "truth")

    assert found.values.shape == (40, 3, 2)
    for column, system in enumerate(found.systems):
        for place, criterion in enumerate(found.criteria):
            score = Score.objects.get(submission=system.pk, criterion=criterion)
            mean = found.values[:, column, place].mean()
            assert mean == pytest.approx(score.mean, abs=1e-9)


def test_many_systems_are_gathered_in_as_many_queries_as_two(judged):
    def n_queries(pks):
        with CaptureQueriesContext(connection) as captured:
            shared(judged, pks, ["fluency"])
        return len(captured)

    pks = ranked_pks(judged)
    assert n_queries(pks[:2]) == n_queries(pks) <= 8
    # kept from now on: only the scores' keys are asked for
    assert n_queries(pks) == 1


def test_a_banned_workers_ratings_are_in_no_table(judged):
    worker = make_worker()
    evaluation = HumanEvaluation.objects.first()
    instance = judged.instances.first()
    rate(evaluation, instance, worker, {"fluency": 0.0, "truth": 0.0})
    with_them = system_ratings_of([evaluation.pk])
    Ban.objects.create(worker=worker, pool=judged.slug, reason="careless")

    assert worker.pk in set(with_them["worker"])
    assert worker.pk not in set(system_ratings_of([evaluation.pk])["worker"])
    Ban.objects.update(pool="another-task")
    assert worker.pk in set(system_ratings_of([evaluation.pk])["worker"])


@pytest.mark.every_engine
def test_a_preference_is_turned_to_the_system_whatever_its_slot(team, submitter):
    task = make_task(n_instances=2, sample_size=2)
    kite = make_ranked(task, 50, team=team, owner=submitter)
    evaluation = kite.human_evaluation
    worker = make_worker()
    for instance, slot in zip(task.instances.all(), ("A", "B"), strict=True):
        item = rate(evaluation, instance, worker, {"overall": 0.75})
        judged_item = evaluation.judged_items.get(item=item)
        other = "B" if slot == "A" else "A"
        JudgedOutput.objects.create(judged_item=judged_item, slot=slot, submission=kite)
        JudgedOutput.objects.create(judged_item=judged_item, slot=other)

    assert system_ratings(evaluation)["value"].tolist() == [0.75, 0.25]
    assert set(system_ratings(evaluation)["submission"]) == {kite.pk}


def test_the_matrix_is_the_paired_bootstrap_of_the_shared_instances(judged, client):
    found = gathered(judged)
    matrix = pairs.matrix(judged, found, cents_per_rating=10.0)
    direct = compare_all(found.values[:, :, 0], seed=5, n_resamples=4_000)

    assert np.allclose(matrix.p_above, direct.p_above, atol=0.03)
    assert matrix == pairs.matrix(judged, found, cents_per_rating=10.0)
    assert [pair.a.name for pair in matrix.pairs if not pair.apart] == ["Fluent"]

    html = client.get("/tasks/tidy-news/differences/").content.decode()
    assert "&gt; 99" in html or "> 99" in html
    assert "40 instances" in html


def test_what_is_still_needed_would_find_the_difference_four_times_in_five(judged):
    found = gathered(judged)
    matrix = pairs.matrix(judged, found, cents_per_rating=10.0)
    near = next(pair for pair in matrix.pairs if not pair.apart)
    a, b = (
        found.values[:, [s.pk for s in found.systems].index(one.pk), 0]
        for one in (near.a, near.b)
    )
    sd = float(np.std(a - b, ddof=1))

    assert near.difference == pytest.approx(float((a - b).mean()))
    assert near.more_ratings == 2 * (near.more_instances - 40)
    assert near.more_cents == 10 * near.more_ratings
    power = [
        paired_power(near.more_instances + k, near.difference, sd) for k in (-1, 0)
    ]
    assert power[0] < 0.8 <= power[1]


def test_systems_that_look_alike_are_said_to(team, submitter, client):
    task = make_task(n_instances=12, sample_size=12)
    workers = [make_worker()]
    for system in ("Twin", "Other twin"):
        judge(
            task,
            0.5,
            seed=7,
            system=system,
            owner=submitter,
            team=team,
            workers=workers,
        )

    html = client.get("/tasks/tidy-news/differences/").content.decode()

    assert "no number is enough: no difference observed" in html
    assert ">50<" in html


def test_a_system_with_few_instances_is_left_out_by_name(
    judged, team, submitter, client
):
    few = make_ranked(judged, 70, system="Short", team=team, owner=submitter)
    Score.objects.filter(submission=few).update(criterion="fluency")
    rate(
        few.human_evaluation,
        judged.instances.first(),
        make_worker(),
        {"fluency": 1.0, "truth": 1.0},
    )

    found = gathered(judged)
    html = client.get("/tasks/tidy-news/differences/").content.decode()

    assert [one.name for one in found.left_out] == ["Short"]
    assert found.n_instances == 40
    assert "Left out because they share too few instances" in html


@pytest.mark.parametrize("page", ["differences", "weights", "story"])
def test_boards_without_evidence_say_so(client, task, page, team, submitter):
    assert client.get(f"/tasks/tidy-news/{page}/").status_code == 200
    make_ranked(task, 70, team=team, owner=submitter)
    response = client.get(f"/tasks/tidy-news/{page}/?w.overall=x")
    assert response.status_code == 200
    assert client.get(f"/tasks/nowhere/{page}/").status_code == 404


def test_the_weights_decide_who_leads_and_the_interval_follows(judged, client):
    found = gathered(judged, "fluency", "truth")

    def first(**weights):
        rows = weighted_rows(judged, found, weights)
        return rows[0].system.name, rows[0].result

    assert first(fluency=0.0, truth=1.0)[0] == "True"
    name, result = first(fluency=1.0, truth=0.0)
    score = Score.objects.get(submission__system_name=name, criterion="fluency")
    assert result.estimate == pytest.approx(score.mean)
    assert result.low == pytest.approx(score.low, abs=1.5)
    assert result.high == pytest.approx(score.high, abs=1.5)

    html = client.get(
        "/tasks/tidy-news/weights/?w.fluency=0&w.truth=2"
    ).content.decode()
    assert re.search(r'name="w.truth"[^>]* value="2"', html)
    names = re.findall(r"<bdi>(\w+)</bdi>", html.split("<tbody>")[1])
    assert names[0] == "True"


def test_the_interval_of_a_sum_knows_that_criteria_go_together():
    rng = np.random.default_rng(3)
    one = rng.normal(50, 20, 400)
    against = np.stack([one, 100 - one], axis=1)[:, None, :]
    along = np.stack([one, one], axis=1)[:, None, :]

    def width(values):
        [found] = weigh(resampled(values, seed=1), [1, 1])
        return found.high - found.low

    assert width(against) == pytest.approx(0, abs=1e-9)
    assert width(along) == pytest.approx(2 * 1.96 * 20 / 20, rel=0.1)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"fluency": 1, "truth": 1}),
        ({"w.fluency": "0", "w.truth": "0"}, {"fluency": 1, "truth": 1}),
        ({"w.fluency": "-3", "w.truth": "1e9"}, {"fluency": 0, "truth": 100}),
        ({"w.fluency": "nan", "w.truth": "inf"}, {"fluency": 1, "truth": 1}),
        ({"w.fluency": "two", "w.truth": "0.5"}, {"fluency": 0, "truth": 0.5}),
    ],
)
def test_weights_are_numbers_from_0_to_100(given, expected):
    assert read_weights(["fluency", "truth"], given) == expected


def test_wrong_tables_and_weights_are_refused():
    found = resampled([[[1.0, 2.0]]], seed=1, n_resamples=3)
    for wrong in ([1], [0, 0], [-1, 2], [np.nan, 1], [np.inf, 1]):
        with pytest.raises(ValueError, match="weight"):
            weigh(found, wrong)
    for wrong in ([], [[1.0]], [[[np.nan, 1.0]]]):
        with pytest.raises(ValueError, match=r"ratings|rating"):
            resampled(wrong, seed=1)


@pytest.mark.every_engine
def test_the_story_names_those_who_led_when_they_came(client, task, team, submitter):
    start = timezone.now() - timedelta(days=90)
    for place, (system, mean) in enumerate(
        [("First", 50), ("Worse", 45), ("Hardly", 51), ("Clearly", 70), ("Secret", 99)]
    ):
        found = make_ranked(
            task,
            mean,
            system=system,
            team=team,
            owner=submitter,
            visibility="PRIVATE" if system == "Secret" else "PUBLIC",
        )
        Submission.objects.filter(pk=found.pk).update(
            published_at=start + timedelta(days=20 * place)
        )

    html = client.get("/tasks/tidy-news/story/").content.decode()

    body = html.split("<tbody>")[1].split("</tbody>")[0]
    assert re.findall(r"<bdi>(\w+)</bdi>", body) == ["Clearly", "Hardly", "First"]
    assert "+19.0, intervals do not overlap" in html
    assert "intervals overlap: see the direct comparison" in html
    assert "Secret" not in html
    svg = html.split('<svg class="timeline"')[1].split("</svg>")[0]
    assert svg.count("<circle") == 4
    assert svg.count("<rect") == 3
    assert 'role="img"' in svg


def test_private_and_withdrawn_systems_are_in_no_matrix(judged, team, submitter):
    pks = ranked_pks(judged)
    Submission.objects.filter(pk=pks[0]).update(visibility="PRIVATE")
    Submission.objects.filter(pk=pks[1]).update(state="WITHDRAWN")

    assert ranked_pks(judged) == [pks[2]]
    # not even when somebody asks for them by number
    assert [one.pk for one in shared(judged, pks, ["fluency"]).systems] == [pks[2]]
