"""The evidence page: what scores rest on, and what cannot be concluded from them."""

from html import unescape

import numpy as np
import pandas as pd
import pytest
from django.utils.html import strip_tags

from leaderboard.boards.selectors.certainty import evidence_of, shares_of
from leaderboard.designs.base import Unit
from leaderboard.evaluation.estimates import estimate_board
from leaderboard.evaluation.evidence import board_evidence
from leaderboard.evaluation.services.refit import refit_board
from leaderboard.models import BoardFit, Submission
from leaderboard.stats.systems.estimates import estimate_systems
from leaderboard.stats.systems.fragility import ratings_to_drop
from tests.factories import make_task, make_worker
from tests.kept import kept
from tests.leaderboard.boards.pages.judged import judge

PAGE = "/tasks/tidy-news/methods/"


@pytest.fixture
def judged(team, submitter):
    return kept("three by eight workers", lambda: judged_of(team, submitter))


def judged_of(team, submitter):
    """Three systems on 20 instances by one rating each, from eight workers."""
    task = make_task(n_instances=20, sample_size=20)
    workers = [make_worker() for _ in range(8)]
    both = {"owner": submitter, "team": team, "workers": workers}
    for seed, (name, quality) in enumerate((("Kite", 0.9), ("Ox", 0.8), ("Elk", 0.2))):
        judge(task, quality, seed=seed, system=name, **both)
    return task


def said(response):
    text = unescape(strip_tags(response.content.decode()))
    return " ".join(text.split())


def ratings_of(values, workers, n_systems=2):
    n = len(values) // n_systems
    return pd.DataFrame(
        {
            "submission": np.repeat(np.arange(n_systems), n),
            "criterion": "overall",
            "instance": np.tile(np.arange(n), n_systems),
            "worker": workers,
            "value": values,
        }
    )


def evidence(ratings, unit, headline="adjusted", ranked=None):
    systems = sorted(set(ratings["submission"]))
    units = {(pk, "overall"): unit for pk in systems}
    ranked = systems if ranked is None else ranked
    fits = estimate_board(ratings, units, ranked, headline=headline).fits
    return board_evidence(ratings, units, ranked, fits, headline=headline)["overall"]


def test_the_board_says_how_few_ratings_its_first_place_hangs_on(judged, client):
    (first,) = (one.first for one in evidence_of(judged))
    again = ratings_to_drop(*_columns(judged))
    assert (first.n_ratings, str(first.leader.pk)) == (again.n_ratings, again.leader)
    text = said(client.get("/tasks/tidy-news/"))
    assert f"Removing just {first.n_ratings} of the ratings would change" in text
    # a past board rested on other ratings
    past = client.get("/tasks/tidy-news/at/20261122T000000Z/")
    assert "would change the leader" not in said(past)


def _columns(task):
    from leaderboard.evaluation.selectors import board_ratings as selector

    scores = selector.board_scores(task)
    ratings = selector.board_ratings(selector.evaluations_of(scores))
    values = 100 * ratings["value"]
    return values, *(ratings[name] for name in ("submission", "worker", "instance"))


def test_a_page_request_computes_no_statistics(judged, client, monkeypatch):
    def refuse(*_):
        raise AssertionError("computed at a request")

    module = "leaderboard.evaluation.evidence"
    for name in ("ratings_to_drop", "krippendorff_alpha", "leniency"):
        monkeypatch.setattr(f"{module}.{name}", refuse)
    assert client.get(PAGE).status_code == 200
    assert client.get("/tasks/tidy-news/").status_code == 200


def test_systems_that_are_not_public_any_more_are_not_named(judged, client):
    Submission.objects.filter(system_name="Kite").update(own_state="WITHDRAWN")
    assert "Kite" not in said(client.get(PAGE))
    assert "Kite" not in client.get("/api/v1/tasks/tidy-news/evidence/").text


def test_without_scores_or_with_an_older_fit_the_page_says_so(task, client):
    assert "Do raters agree?" not in said(client.get(PAGE))
    BoardFit.objects.create(task=task, inputs_sha256="0" * 64)
    assert "Do raters agree?" not in said(client.get(PAGE))
    assert client.get("/api/v1/tasks/tidy-news/evidence/").json()["criteria"] == []


def test_two_workers_on_every_output_agree_or_not():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 5, 60) / 4
    one = ratings_of(truth, np.resize(np.arange(3), 60))
    same = pd.concat([one, one.assign(worker=one["worker"] + 3)])
    unit = Unit(0, 1)

    found = evidence(same, unit)["agreement"]
    assert (found["alpha"], found["same"], found["n_outputs"]) == (1, 1, 60)
    other = one.assign(worker=one["worker"] + 3, value=rng.integers(0, 5, 60) / 4)
    chance = evidence(pd.concat([one, other]), unit)["agreement"]
    assert chance["low"] < 0 < chance["high"]
    # the same worker twice is no second opinion
    assert evidence(pd.concat([one, one]), unit)["agreement"] is None
    equal = evidence(same.assign(value=0.5), unit)
    assert equal["agreement"] is None
    assert equal["first"] is None


def test_strict_workers_are_found_and_chance_is_not():
    rng = np.random.default_rng(1)
    workers = np.resize(np.arange(20), 800)
    values = 60 + rng.normal(0, 10, 800)
    strict = values - 15 * (workers < 2) + 15 * (workers == 19)
    slider = Unit(0, 100, steps=False)

    found = evidence(ratings_of(strict, workers), slider)["workers"]
    assert (found["strict"], found["lenient"]) == (2, 1)
    assert found["typical_gap"] > 3
    chance = evidence(ratings_of(values, workers), slider)["workers"]
    assert (chance["strict"], chance["lenient"]) == (0, 0)
    ratio = Unit(0.01, 100, logarithmic=True, steps=False)
    magnitudes = evidence(ratings_of(np.exp(strict / 100), workers), ratio)["workers"]
    assert magnitudes["typical_gap"] is None
    assert 1.03 < magnitudes["typical_factor"] < 1.2


def test_only_ranked_systems_are_searched_and_too_many_ratings_are_not(monkeypatch):
    rng = np.random.default_rng(1)
    ratings = ratings_of(rng.random(90), np.resize(np.arange(9), 90), n_systems=3)
    unit = Unit(0, 1, steps=False)
    two = evidence(ratings, unit, ranked=[0, 1])["first"]
    assert {two["leader"], two["rival"]} == {0, 1}
    assert evidence(ratings, unit, ranked=[])["first"] is None
    assert evidence(ratings, unit, headline="z")["first"]["n_ratings"] >= 1
    monkeypatch.setattr("leaderboard.evaluation.evidence._SEARCHED", 10)
    assert evidence(ratings, unit)["first_searched"] is False


def test_boards_of_z_scores_show_the_clusters_of_wmt(judged, client):
    assert evidence_of(judged)[0].wmt == []
    judged.config["human"]["estimate"] = "z"
    judged.save()
    refit_board(judged)

    lines = evidence_of(judged)[0].wmt
    assert {line.system.name for line in lines} == {"Kite", "Ox", "Elk"}
    assert lines[-1].system.name == "Elk"
    assert (lines[-1].wins, lines[-1].first) == (0, 3)
    text = said(client.get(PAGE))
    assert "WMT-style clusters" in text
    (criterion,) = client.get("/api/v1/tasks/tidy-news/evidence/").json()["criteria"]
    assert [line["system"] for line in criterion["wmt"]] == [
        line.system.pk for line in lines
    ]


def test_shares_of_the_variance_are_those_that_were_put_in():
    rng = np.random.default_rng(3)
    system, instance = np.repeat(np.arange(30), 200), np.tile(np.arange(200), 30)
    worker = rng.integers(0, 60, 6000)
    # 40, 20, 10 and 30 % of a variance of 100
    made = ((40**0.5, 30, system), (20**0.5, 60, worker), (10**0.5, 200, instance))
    effects = [rng.normal(0, sd, n)[of] for sd, n, of in made]
    values = sum(effects) + rng.normal(0, 30**0.5, 6000)
    fit = estimate_systems(values, system, worker, instance)

    shares = shares_of(fit)
    assert shares.system + shares.worker + shares.instance + shares.rest == 100
    wanted = {"system": 40, "worker": 20, "instance": 10, "rest": 30}
    for name, percent in wanted.items():
        # as far as 30 systems and 60 workers show them
        assert getattr(shares, name) == pytest.approx(percent, abs=10), name
    few = shares_of(fit.keep_systems(fit.systems[:4]))
    assert few.system is None
    assert few.worker + few.instance + few.rest == 100
    assert shares_of(estimate_systems([1, 1, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1])) is None
