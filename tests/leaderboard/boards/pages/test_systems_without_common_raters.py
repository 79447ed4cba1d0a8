"""Systems that share no raters, day or anchors are marked, and not put in an order."""

from datetime import timedelta
from unittest.mock import patch

import pandas as pd
import pytest
from django.utils import timezone

from leaderboard.boards.selectors import pairs
from leaderboard.boards.selectors.certainty import ranked_pks
from leaderboard.evaluation.evidence import isolated_systems, shared_parts
from leaderboard.evaluation.services.refit import refit_board
from tests.factories import make_task, make_worker
from tests.leaderboard.boards.pages.judged import judge

BOARD = "/tasks/weeks-apart/"


def crowd():
    return [make_worker() for _ in range(6)]


@pytest.fixture
def apart(team, submitter):
    """Two systems of one crowd, and a better one that another crowd rated a week ago."""
    task = make_task("weeks-apart", n_instances=40, sample_size=40)
    ours = {"owner": submitter, "team": team, "workers": crowd()}
    judge(task, 0.5, seed=1, system="Kite", **ours)
    judge(task, 0.4, seed=2, system="Wren", **ours)
    week_ago = timezone.now() - timedelta(days=7)
    with patch("tests.leaderboard.boards.pages.judged.timezone.now", lambda: week_ago):
        judge(task, 0.9, seed=3, system="Heron", **{**ours, "workers": crowd()})
    refit_board(task)
    return task


def test_pages_state_no_order_of_systems_of_different_crowds(apart, client):
    board = client.get(BOARD).text
    assert board.count("not directly comparable</span>") == 3
    assert "another system would come first" not in board

    heron, kite, wren = ranked_pks(apart)
    two = client.get(f"{BOARD}differences/?s={heron}&s={kite}").text
    assert "Not directly comparable." in two
    assert "significantly" not in two
    assert "is better" not in two

    matrix = pairs.matrix(apart, [heron, kite, wren], cents_per_rating=10.0)
    assert [pair.comparable for pair in matrix.pairs] == [False, False, True]
    assert not any(pair.apart for pair in matrix.pairs[:2])
    page = client.get(f"{BOARD}differences/").text
    assert "2 pairs are not directly comparable (n/c)" in page
    assert page.count(">n/c<") == 4


def test_one_common_rater_makes_systems_comparable(team, submitter, client):
    task = make_task("weeks-apart", n_instances=40, sample_size=40)
    both, who = make_worker(), {"owner": submitter, "team": team}
    judge(task, 0.5, seed=1, system="Kite", workers=[*crowd(), both], **who)
    judge(task, 0.9, seed=3, system="Heron", workers=[*crowd(), both], **who)
    assert "not directly comparable</span>" not in client.get(BOARD).text


def test_a_day_or_an_anchor_links_systems_too():
    ratings = pd.DataFrame(
        {
            "submission": [1, 2, 3, 4],
            "worker": [11, 12, 13, 14],
            "on": ["2026-03-02", "2026-03-02", "2026-03-09", ""],
        }
    )
    shared = shared_parts(ratings, {4: {3}})
    assert set(shared["1"]) & set(shared["2"])
    assert set(shared["3"]) & set(shared["4"])
    assert not set(shared["1"]) & {*shared["3"], *shared["4"]}
    assert isolated_systems(shared, [1, 2, 3, 4]) == [1, 2, 3, 4]
    assert isolated_systems(shared, [1, 2]) == []


def test_nothing_is_stated_of_systems_with_unknown_raters():
    ratings = pd.DataFrame({"submission": [1, 2], "worker": [-1, 12]})
    shared = shared_parts(ratings, {})
    assert list(shared) == ["2"]
    assert isolated_systems(shared, [1, 2]) == []
