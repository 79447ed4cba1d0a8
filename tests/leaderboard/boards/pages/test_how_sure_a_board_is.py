"""P(A > B), what is still needed, own weights, and the story over time."""

import re
from datetime import timedelta
from itertools import combinations, islice
from types import SimpleNamespace

import pytest
from django.utils import timezone
from scipy import stats

from leaderboard.boards.selectors import pairs
from leaderboard.boards.selectors.certainty import ranked_pks
from leaderboard.boards.selectors.weights import read_weights, weighted_rows
from leaderboard.evaluation.selectors.system_ratings import (
    system_ratings,
    system_ratings_of,
)
from leaderboard.evaluation.services.refit import due, refit_board
from leaderboard.models import HumanEvaluation, Score, ShownOutput, Submission
from leaderboard.stats.systems.estimates import estimate_systems
from quality.models import Ban
from tests.each import each
from tests.factories import make_ranked, make_task, make_worker
from tests.leaderboard.boards.pages.judged import judge, rate


def test_the_matrix_is_that_of_the_fit_and_its_ranks(judged, client):
    matrix = pairs.matrix(judged, ranked_pks(judged), cents_per_rating=10.0)
    ratings = system_ratings_of(HumanEvaluation.own.values_list("pk", flat=True))
    ratings = ratings[ratings["criterion"] == "fluency"]
    columns = ("submission", "worker", "instance")
    direct = estimate_systems(100 * ratings["value"], *(ratings[c] for c in columns))

    assert [pair.a.name for pair in matrix.pairs if not pair.apart] == ["Fluent"]
    for pair in matrix.pairs:
        found = direct.difference(str(pair.a.pk), str(pair.b.pk))
        assert pair.p_above == pytest.approx(found.p_above, abs=1e-6)
        assert pair.difference == pytest.approx(found.estimate, abs=1e-6)

    html = client.get("/tasks/tidy-news/pairs/").content.decode()
    assert "&gt; 99" in html or "> 99" in html
    assert "2 of 3 pairs" in html


def test_the_api_gives_the_comparisons_behind_the_ranks(judged, client):
    address = "/api/v1/tasks/tidy-news/differences/"
    found = client.get(address).json()["results"]
    matrix = pairs.matrix(judged, ranked_pks(judged), cents_per_rating=10.0)

    assert [(one["a"]["submission"], one["p_value"]) for one in found] == [
        (pair.a.pk, pair.p_value) for pair in matrix.pairs
    ]
    first = matrix.pairs[0]
    one = client.get(f"{address}?a={first.b.pk}&b={first.a.pk}").json()["results"]
    assert [pair["significant"] for pair in one] == [first.apart]
    assert client.get(f"{address}?a=nine").status_code == 400


def test_only_the_pairs_of_a_page_are_compared(monkeypatch):
    of = range(5_000, 0, -1)
    named = {pk: SimpleNamespace(pk=pk) for pk in of}
    fit = SimpleNamespace(systems=[*map(str, of)])
    monkeypatch.setattr(pairs, "compare_systems", lambda task: (fit, None))
    monkeypatch.setattr(pairs, "ranked_pks", lambda task: [*of])
    monkeypatch.setattr(pairs, "systems", lambda task, pks: [named[pk] for pk in pks])
    monkeypatch.setattr(pairs, "_compare", lambda task, *found: found[-1])

    def shown(wanted, start, end):
        found = pairs.Pairs(None, wanted)
        return len(found), [(a.pk, b.pk) for a, b in found[start:end]]

    n = 5_000 * 4_999 // 2
    assert shown(set(), 0, 5_003) == (n, [*islice(combinations(of, 2), 5_003)])
    assert shown(set(), n - 3, n) == (n, [(3, 2), (3, 1), (2, 1)])
    assert shown({4_999}, 0, 2) == (4_999, [(5_000, 4_999), (4_999, 4_998)])
    assert shown({3, 7}, 0, 100) == (1, [(7, 3)])
    assert shown({9_999}, 0, 9) == (0, [])


def test_what_is_still_needed_shrinks_the_error_enough(judged):
    matrix = pairs.matrix(judged, ranked_pks(judged), cents_per_rating=10.0)
    near = next(pair for pair in matrix.pairs if not pair.apart)
    estimates, _ = pairs.compare_systems(judged)
    found = estimates.difference(str(near.a.pk), str(near.b.pk))
    times = 1 + near.more_ratings / 80

    assert near.more_workers == pytest.approx(8 * (times - 1), abs=1)
    assert near.more_cents == 10 * near.more_ratings
    # 80% power at 5% over all three pairs, as Holm's correction begins
    freedom = found.freedom * times
    reach = stats.t.ppf(1 - 0.05 / 3 / 2, freedom) + stats.t.ppf(0.8, freedom)
    assert found.standard_error / times**0.5 * reach == pytest.approx(
        abs(found.estimate), rel=0.01
    )


def test_a_pair_that_is_not_separated_always_needs_more(team, submitter):
    """Three raters who agree on an order cannot show how other raters would see it."""
    task = make_task("three-raters", n_instances=60)
    raters = [make_worker() for _ in range(3)]
    who = {"workers": raters, "owner": submitter, "team": team}
    for seed, quality in enumerate((0.85, 0.75, 0.6, 0.5)):
        judge(task, quality, seed=seed, system=f"S{seed}", **who)

    matrix = pairs.matrix(task, ranked_pks(task), cents_per_rating=10.0)
    near = [pair for pair in matrix.pairs if not pair.apart]

    assert near
    for pair in near:
        assert pair.more_ratings is None or pair.more_ratings > 0
        assert pair.more_workers is None or pair.more_workers > 0


def test_weights_of_a_board_that_all_systems_left_open(judged, client):
    Submission.objects.filter(task=judged).update(own_state="WITHDRAWN")
    assert client.get("/tasks/tidy-news/weights/?w.truth=2").status_code == 200


def test_a_banned_workers_ratings_are_in_no_table(judged):
    worker = make_worker()
    evaluation = HumanEvaluation.own.first()
    instance = judged.instances.first()
    rate(evaluation, instance, worker, {"fluency": 0.0, "truth": 0.0})
    with_them = system_ratings_of([evaluation.pk])
    Ban.objects.create(worker=worker, pool_id=judged.slug, reason="careless")

    assert worker.pk in set(with_them["worker"])
    assert worker.pk not in set(system_ratings_of([evaluation.pk])["worker"])
    Ban.own.update(pool=make_task("another-task").slug)
    assert worker.pk in set(system_ratings_of([evaluation.pk])["worker"])


@pytest.mark.every_engine
def test_a_preference_is_turned_to_the_system_whatever_its_slot(who):
    task = make_task(n_instances=2, sample_size=2)
    kite = make_ranked(task, 50, **who)
    evaluation = kite.human_evaluation
    worker = make_worker()
    for instance, slot in zip(task.instances.all(), ("A", "B"), strict=True):
        item = rate(evaluation, instance, worker, {"overall": 0.75})
        subject = evaluation.subjects.get(item=item)
        other = "B" if slot == "A" else "A"
        ShownOutput.objects.create(subject=subject, slot=slot, submission=kite)
        ShownOutput.objects.create(subject=subject, slot=other)

    assert system_ratings(evaluation)["value"].tolist() == [0.75, 0.25]
    assert set(system_ratings(evaluation)["submission"]) == {kite.pk}


def test_systems_that_look_alike_are_said_to(client, who):
    task = make_task(n_instances=12, sample_size=12)
    workers = [make_worker()]
    for system in ("Twin", "Other twin"):
        judge(task, 0.5, seed=7, system=system, **who, workers=workers)

    html = client.get("/tasks/tidy-news/pairs/").content.decode()

    one, other = ranked_pks(task)
    two = client.get(f"/tasks/tidy-news/pairs/?s={one}&s={other}").text
    assert "No difference was observed, so no number of ratings is enough" in two
    assert ">50<" in html


def test_only_several_criteria_have_weights(judged, client):
    assert "custom weights" in client.get("/tasks/tidy-news/").text
    judged.config["human"]["criteria"] = {"fluency": "Fluent?"}
    judged.save()
    assert "custom weights" not in client.get("/tasks/tidy-news/").text
    assert client.get("/tasks/tidy-news/weights/").status_code == 404
    assert client.get("/tasks/nowhere/weights/").status_code == 404


def test_the_weights_decide_who_leads_and_one_criterion_is_the_board(judged, client):
    assert (
        weighted_rows(judged, {"fluency": 0.0, "truth": 1.0})[0].system.name == "True"
    )
    first = weighted_rows(judged, {"fluency": 1.0, "truth": 0.0})[0]
    score = Score.objects.get(
        submission=first.system.pk, criterion="fluency", superseded_at=None
    )
    assert first.interval.flat("mean") == pytest.approx(
        {"mean": score.mean, "low": score.low, "high": score.high}, abs=1e-6
    )

    html = client.get(
        "/tasks/tidy-news/weights/?w.fluency=0&w.truth=2"
    ).content.decode()
    assert re.search(r'name="w.truth"[^>]* value="2"', html)
    names = re.findall(r"<bdi>(\w+)</bdi>", html.split("<tbody>")[1])
    assert names[0] == "True"


@each(
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


@pytest.mark.every_engine
def test_the_story_names_those_who_led_when_they_came(client, task, who):
    start = timezone.now() - timedelta(days=90)
    for place, (system, mean) in enumerate(
        [("First", 50), ("Worse", 45), ("Hardly", 51), ("Clearly", 70), ("Secret", 99)]
    ):
        found = make_ranked(
            task,
            mean,
            system=system,
            **who,
            visibility="PRIVATE" if system == "Secret" else "PUBLIC",
        )
        Submission.objects.filter(pk=found.pk).update(
            published_at=start + timedelta(days=20 * place)
        )

    html = client.get("/tasks/tidy-news/methods/").content.decode()

    body = (
        html.split("Leader history, newest")[1].split("<tbody>")[1].split("</tbody>")[0]
    )
    assert re.findall(r"<bdi>(\w+)</bdi>", body) == ["Clearly", "Hardly", "First"]
    assert "+19.0, " in html
    assert "not significantly better" in html
    assert "Secret" not in html


def test_private_and_withdrawn_systems_are_in_no_matrix(judged, team, submitter):
    pks = ranked_pks(judged)
    Submission.objects.filter(pk=pks[0]).update(visibility="PRIVATE")
    Submission.objects.filter(pk=pks[1]).update(own_state="WITHDRAWN")

    assert ranked_pks(judged) == [pks[2]]
    # not even when somebody asks for them by number
    assert pairs.matrix(judged, pks, cents_per_rating=10.0) is None
    refit_board(judged)
    assert pairs.matrix(judged, pks, cents_per_rating=10.0) is None


def test_a_private_system_is_estimated_beside_and_moves_nobody(judged, who):
    def public_scores():
        rows = Score.own.filter(superseded_at=None, submission__visibility="PUBLIC")
        return list(rows.order_by("pk").values_list("pk", "mean", "rank_first"))

    before = public_scores()
    workers = [make_worker() for _ in range(6)]
    secret = judge(
        judged,
        {"fluency": 0.95, "truth": 0.95},
        seed=4,
        system="Secret",
        visibility="PRIVATE",
        **who,
        workers=workers,
    )

    assert public_scores() == before
    own = secret.scores.get(criterion="fluency", superseded_at=None)
    assert own.fit.of == secret
    assert own.rank_first == 1


def test_a_board_that_lost_all_scores_is_fitted_without_any(judged):
    assert due() == []
    Score.own.update(superseded_at=timezone.now())
    refit_board(judged)
    assert due() == []
