"""Bradley-Terry with covariates, against statsmodels, scipy's optimiser and known truth."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import optimize

from genie.lib.errors import GenieError
from leaderboard.stats.bradley_terry import bradley_terry, bradley_terry_by_worker
from leaderboard.stats.comparisons import compare
from leaderboard.stats.preferences.adjusted import adjusted_bradley_terry
from leaderboard.stats.preferences.style import style_differences, style_of

STRENGTHS = np.array([0.6, 0.1, -0.2, -0.5])


def drawn(n, *, seed, effect=0.0, side=0.0, nu=0.5, n_workers=40, strengths=STRENGTHS):
    """Draw comparisons in which the stronger systems write longer."""
    rng = np.random.default_rng(seed)
    pair = [rng.permutation(len(strengths))[:2] for _ in range(n)]
    first, second = np.array(pair).T
    longer = np.clip(
        (strengths[first] - strengths[second]) / 2 + rng.normal(0, 0.4, n), -1, 1
    )
    half = (strengths[first] - strengths[second] + effect * longer + side) / 2
    chances = np.stack([np.exp(half), np.exp(-half), np.full(n, nu)])
    drawn_at = rng.random(n) * chances.sum(axis=0)
    outcome = np.select(
        [drawn_at < chances[0], drawn_at < chances[0] + chances[1]], [1, -1], 0
    )
    games = compare(first, second, outcome, len(strengths))
    return games, longer, rng.integers(0, n_workers, n)


def test_half_ties_are_the_logistic_regression_that_statsmodels_fits():
    import statsmodels.api as sm

    games, longer, workers = drawn(600, seed=1, effect=0.8, side=0.2)
    found = adjusted_bradley_terry(
        games, {"length": longer}, clusters=workers, ties="half"
    )
    x = np.zeros((600, 6))
    x[np.arange(600), games.first] = 1
    x[np.arange(600), games.second] = -1
    x[:, 4], x[:, 5] = longer / longer.std(), 1
    # one system at 0 instead of all about their mean
    model = sm.GLM(
        (games.outcome + 1) / 2, x[:, 1:], family=sm.families.Binomial()
    ).fit(
        cov_type="cluster",
        cov_kwds={"groups": workers, "use_correction": False, "df_correction": False},
        tol=1e-13,
    )
    strengths = np.append(0, model.params[:3])
    np.testing.assert_allclose(
        found.fit.strengths, strengths - strengths.mean(), atol=1e-8
    )
    assert [e.interval.estimate for e in found.effects] == pytest.approx(
        model.params[3:], abs=1e-8
    )
    few = 40 / 39  # ours is multiplied by C / (C - 1)
    gap = found.fit.covariance[0, 0] + found.fit.covariance[1, 1]
    gap -= 2 * found.fit.covariance[0, 1]
    assert gap == pytest.approx(model.cov_params()[0, 0] * few, rel=1e-6)
    from scipy import stats

    reach = stats.t.ppf(0.975, found.fit.freedom) * np.sqrt(few) * model.bse[3:]
    assert [e.interval.half_width for e in found.effects] == pytest.approx(
        reach, rel=1e-6
    )


def test_ties_of_their_own_are_at_the_maximum_that_scipy_finds():
    games, longer, _ = drawn(400, seed=2, effect=0.8, side=0.3)
    found = adjusted_bradley_terry(games, {"length": longer})
    scaled = longer / longer.std()

    def loss(theta):
        strengths = np.append(theta[:3], -theta[:3].sum())
        half = strengths[games.first] - strengths[games.second]
        half = (half + theta[3] * scaled + theta[4]) / 2
        total = np.exp(half) + np.exp(-half) + np.exp(theta[5])
        own = np.where(games.outcome == 0, theta[5], games.outcome * half)
        return -(own - np.log(total)).sum()

    best = optimize.minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(found.fit.strengths[:3], best.x[:3], atol=1e-5)
    assert [e.interval.estimate for e in found.effects] == pytest.approx(
        best.x[3:5], abs=1e-5
    )
    assert np.log(found.fit.tie) == pytest.approx(best.x[5], abs=1e-5)
    assert found.fit.log_likelihood == pytest.approx(-best.fun, abs=1e-6)


def test_without_covariates_it_is_the_plain_fit():
    games, _, workers = drawn(400, seed=3)
    bare = adjusted_bradley_terry(games, {}, position=False)
    plain = bradley_terry(games.wins, games.ties)
    np.testing.assert_allclose(bare.fit.strengths, plain.strengths, atol=1e-9)
    np.testing.assert_allclose(bare.fit.covariance, plain.covariance, atol=1e-9)
    by = adjusted_bradley_terry(games, {}, position=False, clusters=workers)
    known = bradley_terry_by_worker(games, workers)
    np.testing.assert_allclose(by.fit.covariance, known.covariance, atol=1e-9)
    assert by.fit.freedom == known.freedom


def test_what_was_put_in_comes_out_and_nothing_where_nothing_was():
    held = 0
    for seed in range(60):
        games, longer, workers = drawn(800, seed=seed, effect=1.2, side=0.3)
        found = adjusted_bradley_terry(games, {"length": longer}, clusters=workers)
        length, position = found.effects
        held += length.interval.low <= 1.2 * length.unit <= length.interval.high
        held += position.interval.low <= 0.3 <= position.interval.high
        gap = found.fit.difference(0, 3)
        held += gap.low <= STRENGTHS[0] - STRENGTHS[3] <= gap.high
        if not seed:
            # the plain fit takes length for quality
            plain = bradley_terry(games.wins, games.ties).difference(0, 3)
            assert plain.estimate > gap.estimate + 0.4
    assert 0.91 <= held / 180 <= 0.99
    games, longer, workers = drawn(4000, seed=9)
    found = adjusted_bradley_terry(games, {"length": longer}, clusters=workers)
    plain = bradley_terry_by_worker(games, workers)
    error = np.sqrt(np.diag(found.fit.covariance))
    assert (np.abs(found.fit.strengths - plain.strengths) < 3 * error).all()
    assert all(e.interval.low < 0 < e.interval.high for e in found.effects)


def test_what_cannot_be_told_is_left_out_or_refused():
    games, longer, workers = drawn(300, seed=4)
    same = {"length": longer, "twice": 2 * longer, "none": np.zeros(300)}
    found = adjusted_bradley_terry(games, same, clusters=workers)
    assert [e.name for e in found.effects] == ["length", "position"]
    assert found.left_out == ("twice", "none")
    # a pair that always stands in one order: side and strength are one thing
    fixed = compare([0] * 40, [1] * 40, [1, 1, -1, 0] * 10, 2)
    assert adjusted_bradley_terry(fixed, {}).left_out == ("position",)
    with pytest.raises(GenieError) as caught:
        adjusted_bradley_terry(games, {"told": games.outcome * 1.0})
    assert caught.value.code == "no-fit"
    assert adjusted_bradley_terry(games, {"told": games.outcome * 1.0}, penalty=0.05)
    with pytest.raises(GenieError) as caught:
        adjusted_bradley_terry(games, {}, clusters=np.zeros(300))
    assert caught.value.code == "one-worker"
    with pytest.raises(ValueError, match="finite number of length"):
        adjusted_bradley_terry(games, {"length": longer[:-1]})


def test_the_names_of_workers_and_the_order_of_rows_change_nothing():
    games, longer, workers = drawn(300, seed=5, effect=0.5)
    one = adjusted_bradley_terry(games, {"length": longer}, clusters=workers)
    other = adjusted_bradley_terry(games, {"length": longer}, clusters=100 - workers)
    assert one.effects == other.effects
    turned = compare(games.second, games.first, -games.outcome, 4)
    flipped = adjusted_bradley_terry(turned, {"length": -longer}, clusters=workers)
    np.testing.assert_allclose(one.fit.strengths, flipped.fit.strengths, atol=1e-9)
    assert flipped.effects[1].interval.estimate == pytest.approx(
        -one.effects[1].interval.estimate
    )


def test_markdown_is_counted_as_it_is_shown():
    text = "# A\n\n1. **b** and __c__\n2) d\n\n```\n# no\n- no\n**no**\n```\n#no\n* e"
    assert style_of(text) == {"length": len(text), "headers": 1, "lists": 3, "bold": 2}
    talk = f"User: # long question\n\nAssistant: {text}\n\nUser: - ok"
    assert style_of(talk) == style_of(text)
    styles = {one: style_of(one) for one in ("", "# A", text)}
    differences = style_differences(styles, ["", text], ["", "# A"])
    assert differences["headers"].tolist() == [0, 0]
    assert differences["lists"].tolist() == [0, 1]


def test_few_answers_have_strengths_or_are_refused_and_nothing_else():
    rng = np.random.default_rng(0)
    found = Counter()
    shares = [[0.4, 0.2, 0.4], [0.5, 0, 0.5], [0.05, 0.9, 0.05], [0.02, 0, 0.98]]
    for trial in range(1_000):
        n, m = int(rng.integers(2, 5)), int(rng.integers(2, 40))
        first = rng.integers(0, n, m)
        second = (first + rng.integers(1, n, m)) % n
        outcome = rng.choice([-1, 0, 1], m, p=shares[trial % 4])
        games = compare(first.tolist(), second.tolist(), outcome.tolist(), n)
        column = rng.choice([0.0, 1.0, -1.0], m) if trial % 3 else outcome
        ties = ("own", "half")[trial % 2]
        try:
            adjusted_bradley_terry(games, {"length": column}, ties=ties)
        except GenieError as error:
            found[error.code] += 1
        else:
            found["fitted"] += 1
    assert set(found) == {"fitted", "no-fit", "not-connected", "only-ties"}
