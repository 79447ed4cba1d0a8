"""Decisions that hold whatever was asked first, and rules that choose what to ask."""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from leaderboard.stats.active.deciding import (
    AgainstTheField,
    Labels,
    PairByPair,
    clusters_of,
)
from leaderboard.stats.active.propensities import CHOICES, busiest, soonest, uniform
from leaderboard.stats.active.replay import Pool, replay, with_tastes
from leaderboard.stats.comparisons import compare
from leaderboard.stats.stopping.sequential import BetaMixture
from leaderboard.stats.studies.pairing_study import (
    Replays,
    false_decisions,
    savings,
    simulated_labels,
)
from leaderboard.table_stats.pairs.analyse import games_of
from leaderboard.table_stats.read import read_tables
from tests.leaderboard.stats.e2e import FOLDER
from tests.shared import SHARED, needs_shared

EVENLY = (1 - np.eye(3)) / 3


def labels(first, second, outcome, worker=None, propensities=EVENLY):
    arrays = [np.asarray(a) for a in (first, second, outcome)]
    who = np.arange(len(arrays[0])) if worker is None else np.asarray(worker)
    return Labels(*arrays, who, propensities)


def test_a_pair_is_decided_where_the_rule_of_comparisons_decides():
    # three pairs, nothing decided: six directions share delta
    rule = BetaMixture(delta=0.05 / 6)
    for n_won in range(20, 40):
        deciding = PairByPair(3, delta=0.05)
        better = deciding.add(
            labels([0] * 50, [1] * 50, [1] * n_won + [-1] * (50 - n_won))
        )
        assert better[0, 1] == rule.favours_a(50, n_won)
        assert better.sum() == better[0, 1]


def test_what_is_decided_stays_and_makes_the_next_decision_easier():
    deciding = PairByPair(3, delta=0.05)
    first = deciding.threshold
    assert first == pytest.approx(np.log(6 / 0.05))
    assert deciding.add(labels([0] * 40, [1] * 40, [1] * 40))[0, 1]
    assert deciding.threshold == pytest.approx(np.log(5 / 0.05))
    assert deciding.add(labels([0] * 99, [1] * 99, [-1] * 99))[0, 1]
    # nothing follows from other pairs: preferences may run in a circle
    deciding.add(labels([1] * 40, [2] * 40, [1] * 40))
    assert not deciding.better[0, 2]
    assert clusters_of(deciding.better) == [1, 1, 1]


def test_shares_are_of_all_pairs_alike_however_they_were_drawn():
    # 0 beats 1 always, loses to 2 always, 1 ties with 2; one pair is asked nine times as often
    chances = np.array([[0, 0.9, 0.05], [0.9, 0, 0.05], [0.05, 0.05, 0]])
    drawn = np.random.default_rng(1).choice(3, 20_000, p=[0.9, 0.05, 0.05])
    first, second = np.array([0, 0, 1])[drawn], np.array([1, 2, 2])[drawn]
    outcome = np.array([1, -1, 0])[drawn]
    field = AgainstTheField(3, delta=0.05)
    field.add(labels(first, second, outcome, propensities=chances))
    assert field.shares == pytest.approx([0.5, 0.25, 0.75], abs=0.02)
    assert field.better.astype(int).tolist() == [[0, 1, 0], [0, 0, 0], [1, 1, 0]]
    plain = AgainstTheField(3, delta=0.05)
    plain.add(labels(first, second, outcome))
    assert abs(plain.shares[0] - 0.5) > 0.3


def test_few_workers_decide_nothing_about_shares_whatever_they_say():
    one, other = np.tile([[0, 0, 1], [1, 2, 2]], 200)
    for n_workers, decided in ((5, 0), (100, 3)):
        field = AgainstTheField(3, delta=0.05)
        who = np.arange(600) // 3 % n_workers
        assert field.add(labels(one, other, np.ones(600, int), who)).sum() == decided


@pytest.mark.parametrize("name", CHOICES)
def test_propensities_are_chances_of_all_pairs(name):
    deciding = PairByPair(4, delta=0.05)
    chances = CHOICES[name](deciding)
    assert chances == pytest.approx(uniform(deciding))
    evenly = uniform(deciding)
    deciding.add(labels([0] * 40, [1] * 40, [1] * 40, propensities=evenly))
    chances = CHOICES[name](deciding)
    assert chances.sum() / 2 == pytest.approx(1)
    assert np.array_equal(chances, chances.T)
    assert not np.diag(chances).any()
    floor = {"undecided": 0, "uniform": 1 / 6}.get(name, 0.1 / 6)
    assert chances[0, 1] >= floor - 1e-12
    assert chances[2, 3] >= chances[0, 1]


def test_the_pair_that_is_soonest_decided_comes_first_and_hopeless_ones_last():
    deciding = PairByPair(3, delta=0.05)
    pairs = np.repeat([[0, 0, 1], [1, 2, 2]], 200, axis=1)
    outcome = np.concatenate(
        [[1, -1] * 100, [1] * 117 + [-1] * 83, [1] * 108 + [-1] * 92]
    )
    deciding.add(labels(*pairs, outcome))
    chances = soonest(deciding)
    assert not deciding.better.any()
    assert chances[0, 2] > 0.5 > chances[1, 2] > chances[0, 1] > 0.03
    assert soonest(deciding, floor=1)[0, 1] == pytest.approx(1 / 3)
    assert busiest(deciding) == pytest.approx(uniform(deciding))
    with pytest.raises(ValueError, match="floor"):
        soonest(deciding, floor=1.5)


def test_each_label_is_drawn_once_where_that_is_asked():
    games = compare([0, 1, 0, 2], [1, 0, 1, 1], [1, 1, 0, -1], 3)
    pool = Pool(games, range(4), seed=1, once=True)
    deciding = PairByPair(3, delta=0.05)
    run = replay(pool, deciding, uniform, n_labels=100, batch=3, seed=1)
    assert run.n_labels[-1] == 4
    assert deciding.wins.tolist() == games.wins.tolist()
    assert deciding.ties.tolist() == games.ties.tolist()
    assert run.labels_until(1) == np.inf
    assert not run.at(2).any()


def test_workers_keep_their_tastes_when_systems_change_names():
    games = simulated_labels(4, 600, seed=1, spread=2)
    workers = np.arange(600) % 3
    named = with_tastes(games, workers, seed=1)
    for who in range(3):
        of = workers == who
        before, after = (
            compare(one.first[of], one.second[of], one.outcome[of], 4).wins
            for one in (games, named)
        )
        assert sorted(before.ravel()) == sorted(after.ravel())
    assert named.wins.tolist() != games.wins.tolist()


def test_hardly_anything_is_decided_between_equal_systems():
    games = simulated_labels(5, 2_000, seed=1)
    workers = np.arange(2_000) % 40
    for question, choice in (("pair", "soonest"), ("field", "busiest")):
        how = Replays(question, choice, 0.2, 2_000, 100)
        for tastes in (False, True):
            found = false_decisions(
                games, workers, how, n_replays=25, seed=1, tastes=tastes
            )
            assert found.share <= 0.2, (question, tastes)


@needs_shared
def test_the_e2e_challenge_is_decided_as_far_with_a_third_of_the_labels():
    (table,) = read_tables([FOLDER / "naturalness.csv.gz"])
    games, workers, names = games_of(table)
    assert (len(games.first), len(names)) == (42_390, 21)
    how = Replays("pair", "soonest", 0.05, 42_390, 1_000)
    found = savings(games, workers, how, n_replays=5, seed=1)
    assert found.needed <= 0.4
    assert found.decided_half > 1.5 * found.decided > 4
    assert found.contrary == 0


@needs_shared
def test_rankme_gives_the_same_clusters_with_half_of_the_labels():
    path = SHARED / "data" / "rankme" / "setup1_rankme.csv"
    (table,) = read_tables([path], ["informativeness"])
    games, workers, _ = games_of(table)
    how = Replays("pair", "soonest", 0.05, len(games.first), 18)
    found = savings(games, workers, how, n_replays=20, seed=1)
    assert (found.same_clusters, found.n_clusters, found.contrary) == (1, 2, 0)


def run(*args):
    out = StringIO()
    call_command("replay_pairing", *map(str, args), stdout=out)
    return out.getvalue()


def test_the_command_prints_what_is_saved_and_how_often_it_errs(tmp_path):
    path = tmp_path / "found.json"
    small = ("--labels", 800, "--replays", 3, "--null", 4, "--json", path)
    text = run("--systems", 4, "--question", "pair", "field", *small)
    assert "4 simulated systems: 3 replays, delta 0.05" in text
    assert "soonest" in text
    assert "busiest" in text
    assert "as if all systems were equal" in text
    (crowd,) = json.loads(path.read_text())["crowds"]
    assert [row["question"] for row in crowd["savings"]] == ["pair", "field"]
    assert len(crowd["false"]) == 4
    alone = tmp_path / "alone.csv"
    alone.write_text("system,worker,value\na,w,1\nb,w,2\n")
    with pytest.raises(CommandError, match="page or instance"):
        run("--data", alone)


def test_the_command_says_what_to_ask_next(tmp_path):
    path, out = tmp_path / "pairs.csv", tmp_path / "next.json"
    rows = [("x", "y", "a")] * 60 + [("x", "z", "a"), ("x", "z", "tie")] * 20
    lines = [f"{a},{b},w{k},{which}" for k, (a, b, which) in enumerate(rows)]
    path.write_text("\n".join(["system_a,system_b,worker,preferred", *lines, ""]))
    text = run("--data", path, "--next", "--json", out)
    table = [line.split() for line in text.splitlines()[2:5]]
    assert [row[:6] for row in table] == [
        ["x", "z", "20", "20", "0", "-"],
        ["y", "z", "0", "0", "0", "-"],
        ["x", "y", "60", "0", "0", "x"],
    ]
    chances = [float(row[6]) for row in table]
    assert sum(chances) == pytest.approx(1, abs=1e-3)
    assert chances[2] == pytest.approx(0.1 / 3, abs=1e-4)
    (crowd,) = json.loads(out.read_text())["crowds"]
    assert crowd["better"][0] == [False, True, False]


def test_wrong_labels_are_refused_in_words():
    with pytest.raises(ValueError, match="At least two systems"):
        PairByPair(1, delta=0.05)
    with pytest.raises(ValueError, match="could not have been drawn"):
        labels([0], [1], [1], propensities=np.zeros((3, 3)))
    with pytest.raises(ValueError, match="one propensity"):
        labels([0], [1], [1], propensities=np.eye(3)[[1, 2, 0]])
    with pytest.raises(ValueError, match="worker who gave it"):
        labels([0], [1], [1], worker=[-1])
    with pytest.raises(ValueError, match="not of 4 systems"):
        PairByPair(4, delta=0.05).add(labels([0], [1], [1]))
    nothing = Pool(compare([], [], [], 3), [], seed=1)
    with pytest.raises(ValueError, match="labels to draw from"):
        replay(nothing, PairByPair(3, delta=0.1), uniform, n_labels=1, batch=1, seed=1)
