"""How far a crowd has moved: against other programs, by simulation, and at the edges."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from leaderboard.stats.systems.linking import Ratings, classify_shift, linking_constant


def crowds(rng, *, n=150, n_anchors=15, n_workers=25, shift=4.0, worker_sd=10.0):
    """Draw the anchor before and now, and another system now; workers differ in pace."""
    instances, outputs = rng.normal(0, 12, n), rng.normal(0, 8, (2, n))
    level = rng.normal(0, worker_sd, 2 * n_workers)

    def rate(first, chosen, system, move):
        pace = rng.gamma(1.5, size=n_workers)
        worker = first + rng.choice(n_workers, len(chosen), p=pace / pace.sum())
        values = 60 + instances[chosen] + outputs[system, chosen] + level[worker]
        return Ratings(values + move + rng.normal(0, 18, len(chosen)), worker, chosen)

    anchors = rng.choice(n, n_anchors, replace=False)
    return (
        rate(0, np.arange(n), 0, 0.0),
        rate(n_workers, anchors, 0, shift),
        rate(n_workers, np.arange(n), 1, shift + 5),
    )


@pytest.mark.slow
def test_the_interval_covers_a_move_in_19_of_20_cases():
    rng = np.random.default_rng(5)
    found = [linking_constant(*crowds(rng)) for _ in range(60)]
    covered = np.mean([one.low <= 4.0 <= one.high for one in found])
    assert 0.88 <= covered <= 0.992
    errors = np.array([one.estimate - 4.0 for one in found])
    assert abs(errors.mean()) < 3 * errors.std() / len(errors) ** 0.5
    # half an interval holds two thirds of the estimates
    half = [abs(one.estimate - 4.0) < (one.high - one.low) / 4 for one in found]
    assert 0.55 <= np.mean(half) <= 0.8


def test_balanced_ratings_give_the_paired_mean():
    rng = np.random.default_rng(1)
    texts = rng.normal(50, 15, 60)
    before, now = texts + rng.normal(0, 8, 60), texts + 3 + rng.normal(0, 8, 60)
    places = np.arange(60)
    found = linking_constant(
        Ratings(before, places, places), Ratings(now, 100 + places, places)
    )
    paired = stats.ttest_rel(now, before)
    assert found.estimate == pytest.approx((now - before).mean(), abs=1e-9)
    error = (now - before).mean() / paired.statistic
    assert found.standard_error == pytest.approx(error, rel=0.15)


def test_the_constant_is_that_of_statsmodels():
    mixedlm = pytest.importorskip("statsmodels.formula.api").mixedlm
    before, now, others = crowds(np.random.default_rng(3), n_anchors=40)
    parts = [before, now, others]
    rows = [
        pd.DataFrame(
            {
                "value": part.values,
                "kind": name,
                "worker": part.workers,
                "output": [f"{name == 'others'}{place}" for place in part.instances],
                "all": 1,
            }
        )
        for name, part in zip(["a", "b", "others"], parts, strict=True)
    ]
    table = pd.concat(rows, ignore_index=True)
    model = mixedlm(
        "value ~ C(kind)",
        table,
        groups="all",
        vc_formula={"worker": "0 + C(worker)", "output": "0 + C(output)"},
    ).fit()
    found = linking_constant(*parts)
    # another estimate of the variances (REML) weighs ratings a little differently
    assert found.estimate == pytest.approx(
        model.params["C(kind)[T.b]"], abs=0.25 * found.standard_error
    )


def test_workers_of_both_crowds_count_as_themselves():
    texts, people = np.arange(30), np.arange(30) % 6
    before = Ratings(50.0 + people, people, texts)
    now = Ratings(52.0 + people, people, texts)
    found = linking_constant(before, now)
    assert (found.estimate, found.n_outputs, found.n_workers) == (
        pytest.approx(2.0),
        30,
        6,
    )


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (([], [], []), ([1.0], [0], [0])),
        (([1.0, 2.0], [0, 1], [0, 1]), ([], [], [])),
        # one worker, no shared output, one shared output
        (([1.0, 2.0], [0, 1], [0, 1]), ([3.0, 4.0], [5, 5], [0, 1])),
        (([1.0, 2.0], [0, 1], [0, 1]), ([3.0, 4.0], [5, 6], [2, 3])),
        (([1.0, 2.0], [0, 1], [0, 1]), ([3.0, 4.0], [5, 6], [0, 0])),
    ],
)
def test_where_nothing_links_nothing_is_said(before, now):
    assert linking_constant(Ratings(*before), Ratings(*now)) is None


def test_ratings_that_are_all_equal_link_without_doubt():
    same = [np.full(8, 50.0), np.arange(8), np.arange(8)]
    found = linking_constant(Ratings(*same), Ratings(*same))
    assert (found.estimate, found.standard_error) == (0.0, 0.0)


def test_a_rating_that_is_no_number_is_refused():
    good = Ratings([1.0, 2.0], [0, 1], [0, 1])
    with pytest.raises(ValueError, match="finite"):
        linking_constant(good, Ratings([1.0, np.nan], [5, 6], [0, 1]))


def test_an_interval_beside_a_tolerance_has_three_verdicts():
    ends = [(5.1, 9), (-9, -5.1), (-5, 5), (-1, 6)]
    found = [classify_shift(low, high, 5.0).value for low, high in ends]
    assert found == ["yes", "yes", "no", "perhaps"]
