"""Systems that neither raters nor anchors connect are in no order on any page or file."""

import pandas as pd
import pytest

from leaderboard.boards.selectors import pairs
from leaderboard.boards.selectors.certainty import ranked_pks
from leaderboard.evaluation.services.refit import refit_board
from leaderboard.models import Score
from leaderboard.stats.systems.campaigns import crowd_groups
from leaderboard.stats.systems.estimates import estimate_systems
from leaderboard.stats.systems.ranks import rank_systems
from tests.factories import make_task, make_worker
from tests.leaderboard.boards.pages.judged import judge

BOARD = "/tasks/weeks-apart/"


def crowd():
    return [make_worker() for _ in range(6)]


@pytest.fixture
def apart(team, submitter):
    """Two systems of one crowd, and a far better one that another crowd rated that day."""
    task = make_task("weeks-apart", n_instances=40, sample_size=40)
    ours = {"owner": submitter, "team": team, "workers": crowd()}
    judge(task, 0.5, seed=1, system="Wren", **ours)
    judge(task, 0.4, seed=2, system="Kite", **ours)
    judge(task, 0.9, seed=3, system="Heron", **{**ours, "workers": crowd()})
    refit_board(task)
    return task


def test_pages_and_files_state_no_order_of_systems_of_different_crowds(apart, client):
    board = client.get(BOARD).text
    assert board.count("cannot be ranked together") == 1
    assert "would change the leader" not in board
    assert 'class="iv"><span class="bar' not in board
    names = [board.index(f"<bdi>{name}</bdi>") for name in ("Heron", "Kite", "Wren")]
    assert names == sorted(names)
    ranks = dict(
        Score.objects.filter(superseded_at=None).values_list(
            "submission__system_name", "rank_first"
        )
    )
    assert ranks["Heron"] == 1 == ranks["Kite"] == ranks["Wren"]

    heron, wren, kite = ranked_pks(apart)
    two = client.get(f"{BOARD}pairs/?s={heron}&s={kite}").text.partition('id="matrix"')[
        0
    ]
    assert "Not directly comparable." in two
    assert "significantly" not in two
    assert "is better" not in two

    matrix = pairs.matrix(apart, [heron, kite, wren], cents_per_rating=10.0)
    assert [pair.comparable for pair in matrix.pairs] == [False, False, True]
    assert [pair.p_value for pair in matrix.pairs[:2]] == [1.0, 1.0]
    assert [pair.p_above for pair in matrix.pairs[:2]] == [0.5, 0.5]
    page = client.get(f"{BOARD}pairs/").text
    assert "2 pairs are not directly comparable (n/c)" in page
    assert page.count(">n/c<") == 4
    rows = client.get(f"{BOARD}board.json").json()["rows"]
    assert [row["system"] for row in rows] == ["Heron", "Kite", "Wren"]
    picture = client.get(f"{BOARD}board.svg").text
    assert "Heron" not in picture
    assert "not ordered" in picture


def test_one_common_rater_makes_systems_comparable(team, submitter, client):
    task = make_task("weeks-apart", n_instances=40, sample_size=40)
    both, who = make_worker(), {"owner": submitter, "team": team}
    judge(task, 0.5, seed=1, system="Kite", workers=[*crowd(), both], **who)
    judge(task, 0.9, seed=3, system="Heron", workers=[*crowd(), both], **who)
    refit_board(task)
    assert "cannot be ranked together" not in client.get(BOARD).text


def test_crowds_connect_by_way_of_other_systems_and_anchors():
    assert crowd_groups(list("abbcc"), [1, 1, 2, 2, 3], list("abbcc"))["c"] == 0
    ratings = pd.DataFrame(
        {
            "value": [9.0, 8.0, 7.0, 9.0, 3.0, 2.0, 1.0, 3.0, 2.0],
            "system": list("aaaabbbbb"),
            "worker": [1, 2, 3, 1, 4, 5, 6, 4, 5],
            "instance": [1, 2, 3, 4, 1, 2, 3, 4, 5],
        }
    )
    found = estimate_systems(*ratings.to_numpy().T.tolist(), campaigns=ratings.system)
    ranking = rank_systems(found)
    assert [str(ranks) for ranks in ranking.ranks] == ["1-2", "1-2"]
    assert found.difference("a", "b").p_above == 0.5
    assert not found.difference("a", "b").ends
