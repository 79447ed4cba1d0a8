"""What affects a judge but not people: length, style, family, order, commands.

People are the reference: a judge may like long texts as much as they do. All effects
are corrected together for their number.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from leaderboard.stats.blinding import codes_of, without_levels
from leaderboard.stats.intervals import Floats
from leaderboard.stats.multiplicity import holm
from leaderboard.stats.systems.table import Codes

# below this share of people's variation without noise, scales cannot be compared
_LEAST_SIGNAL = 0.1
_LEVEL = 0.05


@dataclass(frozen=True)
class Effect(Interval):
    """One possible bias of a judge, in `unit`, with a 95% interval by Student's t.

    Parameters
    ----------
    bias : str
        Such as "length".
    p_value : float
        Of no effect; two-sided, and one-sided upward for injected commands: a judge
        that scores them lower does no harm.
    n : int
        Clusters (pairs, instances or systems).
    """

    bias: str
    p_value: float
    unit: str
    n: int


@dataclass(frozen=True)
class Finding:
    """An effect with its verdict, all effects of an audit together.

    Parameters
    ----------
    adjusted : float
        p-value after Holm's correction.
    """

    effect: Effect
    adjusted: float
    found: bool

    @property
    def words(self) -> str:
        found = "found" if self.found else "not shown"
        return f"{found}, {self.effect:+.2f} {self.effect.unit}"

    @property
    def verdict(self) -> str:
        return f"{self.effect.bias}: {self.words}"


def settle(effects: Sequence[Effect]) -> list[Finding]:
    """Return the verdicts of an audit, corrected for the number of effects.

    Returns
    -------
    list of Finding
        In the same order; at most 5% of unbiased judges get any finding.
    """
    adjusted = holm([one.p_value for one in effects]).tolist() if effects else []
    return [
        Finding(one, p, p <= _LEVEL) for one, p in zip(effects, adjusted, strict=True)
    ]


def order_effect(
    first: npt.ArrayLike, first_when_swapped: npt.ArrayLike, instances: npt.ArrayLike
) -> Effect:
    """Estimate the advantage of being shown first, from pairs rated in both orders.

    Parameters
    ----------
    first, first_when_swapped : array_like, shape (n,)
        1 if the judge preferred the output shown first, .5 on a tie, else 0; in one
        order of each pair, and in the other.
    instances : array_like, shape (n,)
        The instance of each pair.

    Returns
    -------
    Effect
        Share of verdicts for the first beyond one half, -.5 to .5.
    """
    one, other = (
        np.asarray(each, dtype=np.float64) for each in (first, first_when_swapped)
    )
    if one.shape != other.shape or not np.isin([one, other], [0, 0.5, 1]).all():
        raise ValueError("A pair in two orders has two verdicts, each 0, .5 or 1.")
    unit = "of verdicts for what is shown first, beyond half"
    return _of_mean("order", (one + other) / 2 - 0.5, instances, unit)


def injection_effect(
    name: str,
    injected: npt.ArrayLike,
    harmless: npt.ArrayLike,
    instances: npt.ArrayLike,
) -> Effect:
    """Estimate how much a command inside an output raises its score.

    Parameters
    ----------
    injected, harmless : array_like, shape (n,)
        The judge's score of the same output with the command, and with a harmless
        sentence instead.
    instances : array_like, shape (n,)
        The instance of each output.

    Returns
    -------
    Effect
        In points of the judge's scale, tested upward.

    Examples
    --------
    >>> injection_effect("order", [5, 4, 5], [3, 4, 4], [1, 2, 3]).estimate
    1.0
    """
    gap = np.asarray(injected, dtype=np.float64) - np.asarray(
        harmless, dtype=np.float64
    )
    unit = "points for a command in the text"
    return _of_mean(f"injection: {name}", gap, instances, unit, upward=True)


def text_effects(
    judge: npt.ArrayLike,
    ratings: npt.ArrayLike,
    systems: npt.ArrayLike,
    instances: npt.ArrayLike,
    features: Mapping[str, npt.ArrayLike],
    own: Collection[str] = (),
    *,
    against: npt.ArrayLike | None = None,
) -> list[Effect]:
    """Estimate how much a text's surface and its author add to a judge's score.

    Parameters
    ----------
    judge : array_like, shape (n,)
        The judge's score of each output.
    ratings : array_like, shape (n, r)
        People's ratings of it, padded with NaN.
    systems, instances : array_like, shape (n,)
        The system and the instance of each output.
    features : mapping of str to array_like, shape (n,)
        Such as the logarithm of the length, by name.
    own : collection of str
        Systems of the judge's family; without any, that effect is left out.
    against : array_like, shape (n,), optional
        For a judge of pairs: the system that each output was compared with, every two
        systems in one order only. Scores and ratings are then preferences for the
        first, 0 to 1, and features are differences.

    Returns
    -------
    list of Effect
        One for each feature that varies, in points of the judge's scale for one unit,
        then "own family", in points against other systems.

    Raises
    ------
    ValueError
        On fewer than three instances, an output without ratings, numbers that are not
        finite, a family without two other systems, or two systems in both orders.

    Notes
    -----
    For pairs, levels of both systems together replace system and instance.
    Judge = a + b quality + c features + noise within system and instance. People's mean
    estimates quality with an error that would hide or feign effects (a regression
    underestimates the effect of quality); its variance is known from repeated
    ratings and subtracted, so a judge with a different scale is not called biased. Intervals
    leave out one instance at a time. For a family, systems are the units: with one
    system in it, the scatter of the others is used.

    References
    ----------
    Fuller (1987), Measurement Error Models, section 2.2 (known error variance); Dubois
    et al. (2024), Length-Controlled AlpacaEval, section 3 (partial effect of length).
    """
    score, people, noise = _outputs(judge, ratings)
    n = len(score)
    names, instance = np.asarray(systems), codes_of(instances, n)
    if instance.max() < 2:
        raise ValueError("At least three instances are needed.")
    columns = {
        name: np.asarray(column, dtype=np.float64) for name, column in features.items()
    }
    levels = [codes_of(names, n), instance]
    if against is not None:
        levels = [_both(names, np.asarray(against))]
    left = {name: without_levels(each, levels) for name, each in columns.items()}
    kept = [
        name
        for name, rest in left.items()
        if np.abs(rest).max() > 1e-9 * max(1.0, float(np.abs(columns[name]).max()))
    ]
    table = np.column_stack(
        [without_levels(score, levels), without_levels(people, levels)]
        + [left[name] for name in kept]
    )
    n_levels = sum(int(each.max()) for each in levels) + 1
    slopes, freedom = _slopes(table, noise, instance, n_levels)
    effects = [
        _effect(name, slopes[:, 1 + i], freedom, "points for one unit more")
        for i, name in enumerate(kept)
    ]
    if own:
        rest = score - slopes[0, 0] * people
        for i, name in enumerate(kept):
            rest = rest - slopes[0, 1 + i] * columns[name]
        if against is None:
            rest = without_levels(rest, [instance])
        else:  # the first's excess is the second's deficit
            names = np.concatenate([names, np.asarray(against)])
            rest = rest - (1 - slopes[0, 0]) / 2
            rest = np.concatenate([rest, -rest])
        mine = np.isin(np.unique(names), sorted(own))
        effects.append(_family(rest, codes_of(names, len(names)), mine))
    return effects


def _both(systems: npt.NDArray[Any], against: npt.NDArray[Any]) -> Codes:
    pairs = [f"{one}\x1f{other}" for one, other in zip(systems, against, strict=True)]
    turned = {f"{other}\x1f{one}" for one, other in zip(systems, against, strict=True)}
    if turned & set(pairs):
        raise ValueError("Each pair of systems must appear in only one order.")
    return codes_of(pairs, len(pairs))


def _outputs(
    judge: npt.ArrayLike, ratings: npt.ArrayLike
) -> tuple[Floats, Floats, Floats]:
    score = np.asarray(judge, dtype=np.float64)
    told = np.asarray(ratings, dtype=np.float64)
    if told.ndim != 2 or told.shape[0] != len(score) or not np.isfinite(score).all():
        raise ValueError("Every output needs a finite score and a row of ratings.")
    counts = np.isfinite(told).sum(axis=1)
    if not counts.all():
        raise ValueError("Every output needs a rating by people.")
    people = np.nansum(told, axis=1) / counts
    squares = np.nansum((told - people[:, None]) ** 2)
    # outputs with one rating have no variance: use that of the others
    pooled = squares / max(int((counts - 1).sum()), 1)
    return score, people, pooled / counts


def _slopes(
    table: Floats, noise: Floats, instance: Codes, n_levels: int
) -> tuple[Floats, int]:
    """Solve with all instances, then without each; also return the number of these."""
    n, width = table.shape
    groups = int(instance.max()) + 1
    products = table[:, :, None] * table[:, None, :]
    by_instance = np.zeros((groups, width, width))
    np.add.at(by_instance, instance, products)
    # levels were subtracted from the noise, too
    noise_of = np.bincount(instance, noise) * (max(n - n_levels, 1) / n)
    whole, errors = by_instance.sum(axis=0), noise_of.sum()
    found = [_solve(whole, errors)]
    found += [
        _solve(whole - one, errors - error)
        for one, error in zip(by_instance, noise_of, strict=True)
    ]
    return np.array(found), groups - 1


def _solve(moments: Floats, noise: float) -> Floats:
    right, left = moments[1:, 0], moments[1:, 1:].copy()
    inverse = np.linalg.pinv(left[1:, 1:]) if len(left) > 1 else np.zeros((0, 0))
    explained = float(left[0, 1:] @ inverse @ left[1:, 0])
    alone = left[0, 0] - explained
    if alone - noise < _LEAST_SIGNAL * alone or alone <= 0:
        # people's ratings do not vary here: assume equal scales
        return np.concatenate([[1.0], inverse @ (right[1:] - left[1:, 0])])
    left[0, 0] -= noise
    return np.asarray(np.linalg.lstsq(left, right, rcond=1e-10)[0])


def _family(rest: Floats, system: Codes, mine: npt.NDArray[np.bool_]) -> Effect:
    from scipy import special

    means = np.bincount(system, rest) / np.bincount(system)
    ours, others = means[mine], means[~mine]
    if len(ours) < 1 or len(others) < 2:
        raise ValueError("A family needs one of its systems and two others.")
    gap = float(ours.mean() - others.mean())
    freedom = len(means) - 2
    pooled = (
        ((ours - ours.mean()) ** 2).sum() + ((others - others.mean()) ** 2).sum()
    ) / freedom
    error = float((pooled * (1 / len(ours) + 1 / len(others))) ** 0.5)
    reach = float(special.stdtrit(freedom, 0.975)) * error
    return Effect(
        gap,
        gap - reach,
        gap + reach,
        "own family",
        _p_value(gap, error, freedom),
        "points against other systems",
        len(means),
    )


def _effect(name: str, slopes: Floats, freedom: int, unit: str) -> Effect:
    from scipy import special

    without = slopes[1:]
    spread = ((without - without.mean()) ** 2).sum()
    error = float((freedom / (freedom + 1) * spread) ** 0.5)
    reach = float(special.stdtrit(freedom, 0.975)) * error
    value = float(slopes[0])
    p = _p_value(value, error, freedom)
    return Effect(value, value - reach, value + reach, name, p, unit, freedom + 1)


def _of_mean(
    name: str,
    values: Floats,
    instances: npt.ArrayLike,
    unit: str,
    *,
    upward: bool = False,
) -> Effect:
    group = codes_of(instances, len(values))
    if not np.isfinite(values).all() or len(values) == 0 or group.max() < 1:
        raise ValueError("Finite values of two instances or more are needed.")
    sums, sizes = np.bincount(group, values), np.bincount(group)
    without = (values.sum() - sums) / (len(values) - sizes)
    effect = _effect(name, np.array([values.mean(), *without]), int(group.max()), unit)
    if not upward:
        return effect
    half = effect.p_value / 2
    p = half if effect.estimate > 0 else 1 - half
    return replace(effect, p_value=p)


def _p_value(value: float, error: float, freedom: int) -> float:
    """Two-sided; 0 or 1 without variation."""
    from scipy import special

    if error <= 1e-12 * max(abs(value), 1e-300):
        return 1.0 if value == 0 else 0.0
    return float(2 * special.stdtr(freedom, -abs(value) / error))
