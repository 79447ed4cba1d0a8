"""Numbers of instances, ratings and workers for a given precision."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from genie.lib.errors import GenieError
from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.mixed import Components, mean_variance

MAX_INSTANCES = 10_000_000
MAX_RATINGS_PER_INSTANCE = 100


@dataclass(frozen=True)
class Plan:
    """A study that is large enough, and its size.

    Parameters
    ----------
    n_instances, ratings_per_instance : int
        Their product is `n_ratings` (per system).
    n_workers, n_days : int or None
        Workers and days over which the ratings are spread; None if the plan does
        not depend on them.
    half_width : float
        Expected half-width of the mean's (or the difference's) interval.
    """

    n_instances: int
    ratings_per_instance: int
    n_workers: int | None
    n_days: int | None
    confidence: float
    half_width: float
    power: float | None = None

    @property
    def n_ratings(self) -> int:
        return self.n_instances * self.ratings_per_instance


def plan_half_width(
    half_width: float,
    components: Components,
    *,
    confidence: float = 0.95,
    ratings_per_instance: int = 1,
    n_days: int | None = None,
    ratings_per_worker: int | None = None,
    max_instances: int | None = None,
) -> Plan:
    """Find the number of instances for a given precision of a mean.

    Parameters
    ----------
    half_width : float
        Half-width of the interval, > 0, in the unit of the ratings.
    components : Components
        From `worst_case_components` or `pilot_components`.
    ratings_per_instance : int
        Ratings of each output. One is best for a given number of ratings.
    ratings_per_worker : int, optional
        Largest number of ratings (of one system) per worker, from which the plan counts
        the workers it needs.
    max_instances : int, optional
        Number of available instances. If they are too few with
        `ratings_per_instance`, each is rated more often.

    Returns
    -------
    Plan
        With the smallest number of instances that is enough. Variation between workers
        or days is left out if their numbers are not given.

    Raises
    ------
    GenieError
        "out-of-reach" if days alone vary too much for any number of instances; the
        message has the necessary number of them. Also if all of
        `max_instances`, rated a hundred times each, are too few.

    References
    ----------
    Khashabi et al. (2022), GENIE, appendix C, solved for n; Cochran (1977), Sampling
    Techniques, section 4.4.
    """
    z = normal_quantile(confidence)
    # a tolerance for rounding, so that a plan that is just enough is accepted
    target_variance = (half_width / z) ** 2 * (1 + 1e-12)
    _check_reach(target_variance, components, n_days)
    draft = Plan(1, ratings_per_instance, None, n_days, confidence, 0.0)
    plan = _fewest_instances(
        target_variance, components, draft, ratings_per_worker, max_instances
    )
    return replace(plan, half_width=z * math.sqrt(_variance(components, plan)))


# The same raters rate all systems; results hold for them (`fixed`) or for raters like
# them. `apart` is the part of instances' variance that does not cancel in differences, of
# which `n_pairs` are tested together (Holm). Source: Satterthwaite (1946), Biometrics 2.
def outlook(
    components: Components,
    n_instances: int,
    n_raters: int,
    ratings_per_instance: int = 1,
    *,
    fixed: bool = False,
    apart: float = 0.0,
    n_pairs: int = 1,
) -> tuple[float, float]:
    """Return the expected half-width of a mean, and the difference with 80% power."""
    from scipy import special

    each = min(ratings_per_instance, n_raters)
    # the share of instances' variance between raters who rated different ones
    different = (n_raters - each) / (each * (n_raters - 1))
    found = []
    for times, instance, level in (
        (1, components.instance, components.worker + components.taste),
        (2, apart * components.instance, components.taste),
    ):
        drawn = times * instance / n_instances
        rest = times * components.residual / (n_instances * each)
        between = 0.0 if fixed else times * level / n_raters + rest + drawn * different
        beyond = drawn + rest if fixed else drawn * (1 - different)
        spread = between**2 / (n_raters - 1) + beyond**2 / max(n_instances - 1, 1)
        freedom = (between + beyond) ** 2 / spread if spread else 1.0
        found.append((math.sqrt(between + beyond), freedom))
    (mean, freedom), (gap, of_gap) = found
    # a standard deviation from few raters is too small on average
    shrunk = special.poch(freedom / 2, 0.5) * math.sqrt(2 / freedom)
    shift = special.nctdtrinc(of_gap, 0.2, special.stdtrit(of_gap, 1 - 0.025 / n_pairs))
    return float(special.stdtrit(freedom, 0.975) * shrunk) * mean, float(shift) * gap


def _fewest_instances(
    target_variance: float,
    components: Components,
    draft: Plan,
    load: int | None,
    max_instances: int | None,
) -> Plan:
    most = MAX_INSTANCES if max_instances is None else max_instances
    # new instances first: a second rating of one adds less than the first of another
    for extra in range(MAX_RATINGS_PER_INSTANCE):
        tried = replace(draft, ratings_per_instance=draft.ratings_per_instance + extra)
        if _variance(components, _with_workers(tried, most, load)) <= target_variance:
            n_instances = smallest(
                lambda n, tried=tried: (  # type: ignore[misc]
                    _variance(components, _with_workers(tried, n, load))
                    <= target_variance
                )
            )
            return _with_workers(tried, n_instances, load)
        if max_instances is None:
            break
    raise GenieError(
        f"More than {most:,} instances are needed.",
        code="out-of-reach",
        details={"max_instances": most},
    )


def _check_reach(
    target_variance: float, components: Components, n_days: int | None
) -> None:
    if n_days is None or components.day / n_days < target_variance:
        return
    least = math.ceil(components.day / target_variance) + 1
    raise GenieError(
        f"No number of instances is enough with {n_days} days (at least {least}): "
        "their variation alone is too large.",
        code="out-of-reach",
        details={
            "floor_sd": math.sqrt(components.day / n_days),
            "wanted_sd": math.sqrt(target_variance),
        },
    )


def _with_workers(plan: Plan, n_instances: int, load: int | None) -> Plan:
    # a worker rates an output only once
    each = plan.ratings_per_instance
    workers = max(each, -(-n_instances * each // load)) if load else plan.n_workers
    return replace(plan, n_instances=n_instances, n_workers=workers)


def _variance(components: Components, plan: Plan) -> float:
    return mean_variance(
        components,
        plan.n_instances,
        plan.ratings_per_instance,
        plan.n_workers,
        plan.n_days,
    )


def smallest(enough: Callable[[int], bool]) -> int:
    """Find the smallest number of instances that is enough, by doubling and halving.

    Raises
    ------
    GenieError
        "out-of-reach" if ten million are not.

    Examples
    --------
    >>> smallest(lambda n: n * n >= 50)
    8
    """
    high = 1
    while not enough(high):
        high *= 2
        if high > MAX_INSTANCES:
            raise GenieError(
                f"More than {MAX_INSTANCES:,} instances are needed.",
                code="out-of-reach",
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
