"""Anybody's table of per-item scores gives ranks that can be trusted, and no more."""

import io
import json

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from scipy import stats

from genie.lib.errors import GenieError
from leaderboard.stats.systems.per_item import estimate_by_items
from leaderboard.table_stats.rank_audit.read import read_scores
from tests.nets.conftest import tell

WIDE = "item,good,fair,bad\n" + "".join(
    f"q{i},{int(i % 10 != 0)},{int(i % 8 != 0)},{int(i % 3 == 0)}\n" for i in range(120)
)


def read(text):
    return read_scores(io.BytesIO(text.encode()))


# --- the arithmetic -----------------------------------------------------------------


def test_two_valued_scores_are_compared_by_the_exact_sign_test():
    rng = np.random.default_rng(1)
    table = (rng.random((60, 4)) < [0.8, 0.7, 0.4, 0.4]).astype(float)
    found = estimate_by_items(list("abcd"), table)
    for i in range(4):
        for j in range(i):
            wins = int((table[:, i] > table[:, j]).sum())
            losses = int((table[:, i] < table[:, j]).sum())
            expected = stats.binomtest(wins, wins + losses).pvalue
            assert found.p_values[i, j] == pytest.approx(expected, abs=1e-12)
    wilson = stats.binomtest(int(table[:, 0].sum()), 60).proportion_ci(method="wilson")
    assert found.intervals["a"].ends == pytest.approx((wilson.low, wilson.high))


def test_other_scores_are_compared_by_the_paired_t_test():
    table = np.random.default_rng(2).normal([3, 2.8, 1], 1, (40, 3))
    found = estimate_by_items(list("abc"), table)
    expected = stats.ttest_rel(table[:, 0], table[:, 1]).pvalue
    assert found.p_values[0, 1] == pytest.approx(expected)
    low, high = stats.ttest_1samp(table[:, 2], 0).confidence_interval()
    assert found.intervals["c"].ends == pytest.approx((low, high))


def test_items_of_a_group_that_are_alike_count_once():
    table = np.random.default_rng(3).normal([1, 0.5], 1, (20, 2))
    once = estimate_by_items(["a", "b"], table)
    groups = [str(i) for i in range(20)]
    copies = estimate_by_items(
        ["a", "b"], np.repeat(table, 5, axis=0), np.repeat(groups, 5)
    )
    assert copies.p_values == pytest.approx(once.p_values)
    for name, one in once.intervals.items():
        assert copies.intervals[name].ends == pytest.approx(one.ends)


def test_equal_systems_are_seldom_told_apart():
    """Five equal systems, 150 times: any pair in at most 5% of the times (± 3.6)."""
    wrong = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        hard = rng.normal(0, 1, (60, 1))
        table = hard + rng.normal(0, 1, (60, 5))
        wrong += estimate_by_items(list("abcde"), table).n_significant > 0
    assert wrong / 150 <= 0.086


@pytest.mark.parametrize(
    "table",
    [
        np.ones((5, 3)),
        np.zeros((5, 3)),
        np.full((5, 3), 0.3),
        np.ones((1, 3)),
        np.eye(3),
    ],
    ids=["all right", "all wrong", "constant", "one item", "one each"],
)
def test_nothing_is_claimed_where_nothing_can_be(table):
    found = estimate_by_items(list("abc"), table)
    assert found.n_significant == 0
    assert found.ranking.clusters == [1, 1, 1]


def test_the_same_difference_on_two_items_proves_nothing():
    found = estimate_by_items(["a", "b"], [[1.5, 1.0], [0.8, 0.3]])
    assert found.p_values[0, 1] == 0.5


# --- files --------------------------------------------------------------------------


def test_three_layouts_and_json_say_the_same():
    wide = read("item,task,a,b\nq1,t,1,0\nq2,t,0.5,1\n")
    long = read(
        "model,question,correct,task\na,q1,1,t\nb,q1,0,t\na,q2,.5,t\nb,q2,1,t\n"
    )
    assert wide == long
    turned = read("model\tq1\tq2\na\t1\t0.5\nb\t0\t1\n")
    as_json = read(
        json.dumps({"a": {"q1": 1, "q2": 0.5}, "b": {"q1": False, "q2": True}})
    )
    assert turned == as_json
    assert turned.rows == wide.rows


def test_items_without_a_score_for_every_system_are_left_out_and_counted():
    scores = read("item,a,b\nq1,1,0\nq2,,1\nq3,NA,1\nq4,1,1\n")
    assert (scores.items, scores.n_left_out) == (["q1", "q4"], 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("item,a,b\nq1,1\n", "line 2: this row has 2 cells and the header 3"),
        ("item,a,b\nq1,1,x\nq2,1,1\n", "line 2, column “b”: 'x' is not a number"),
        ("item,a,b\nq1,1,inf\n", "'inf' is not a number"),
        (
            "item,a,b\nq1,1,1\nq1,0,1\n",
            "line 3, column “a”: '0' is a second score of 'a'",
        ),
        ("item,a,a\nq1,1,1\n", "line 1, column “a”: two columns have this header"),
        ("item,a\nq1,1\nq2,0\n", "at least two systems"),
        ("item,a,b\nq1,1,\nq2,,0\n", "only 0 of 2 items"),
        ('{"a": 3}', "use an object from item to score"),
        ('{"a": ', "not valid JSON"),
        ('{"\\ud800": {"q": 1, "r": 2}, "b": {"q": 2, "r": 3}}', "cannot be shown"),
        ("item,a,b\nq1,1,1e-300\n", "'1e-300' is out of range"),
        ("item,a,b\nq1,1,-1e308\n", "line 2, column “b”: '-1e308' is out of range"),
        (
            "system,item,score\na,q,1\na,q,0\n",
            "line 3, column “score”: '0' is a second score",
        ),
    ],
)
def test_a_wrong_file_gets_one_sentence(text, said):
    with pytest.raises(GenieError, match=said):
        read(text)


def test_the_command_writes_ranks_numbers_and_a_badge(tmp_path, capsys):
    path, numbers, drawn = tmp_path / "s.csv", tmp_path / "s.json", tmp_path / "s.svg"
    path.write_text(WIDE)
    call_command("audit_ranks", path, json=numbers, badge=drawn)
    tell(capsys.readouterr().out.replace(str(tmp_path), ""))
    tell(numbers.read_text())
    tell(drawn.read_text())
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("audit_ranks", tmp_path / "none.csv")


# --- the API ------------------------------------------------------------------------


def upload(text=WIDE):
    return SimpleUploadedFile("s.csv", text.encode())


@pytest.mark.django_db
def test_the_api_says_the_same_and_refuses_in_words(client):
    answer = client.post(reverse("api:rank-audit"), {"file": upload()})
    assert answer.status_code == 200
    assert [row["cluster"] for row in answer.json()["systems"]] == [1, 1, 2]
    turned = client.post(
        reverse("api:rank-audit"), {"file": upload(), "lower_is_better": "true"}
    )
    assert turned.json()["systems"][0]["system"] == "bad"
    assert turned.json()["systems"][0]["mean"] == answer.json()["systems"][2]["mean"]
    refused = client.post(
        reverse("api:rank-audit"), {"file": upload("item,a,b\nq,1,x\n")}
    )
    assert refused.status_code == 400
    assert refused.json()["code"] == "bad-scores"
    assert "s.csv, line 2, column “b”" in refused.json()["detail"]
