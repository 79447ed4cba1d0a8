"""How many instances, ratings, workers, days and dollars an answer needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from genie.lib.errors import GenieError
from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.components import Components, mean_variance

MAX_INSTANCES = 10_000_000
MAX_RATINGS_PER_INSTANCE = 100


@dataclass(frozen=True)
class Plan:
    """A study that is large enough, and what it takes.

    Parameters
    ----------
    n_instances, ratings_per_instance : int
        Their product is `n_ratings` (per system).
    n_workers, n_days : int or None
        Workers and days over which the ratings are spread; None where the plan does
        not depend on them.
    confidence : float
        Of the interval, or 1 - alpha of the test.
    half_width : float
        Expected half-width of the mean's (or the difference's) interval.
    n_systems : int
        How many systems are rated.
    cents : int
        What the ratings of all systems cost, rounded up.
    basis : str
        Whether worst-case bounds or a pilot study were used.
    power : float or None
        Probability of finding the difference planned for.
    """

    n_instances: int
    ratings_per_instance: int
    n_workers: int | None
    n_days: int | None
    confidence: float
    half_width: float
    n_systems: int
    cents: int
    basis: str
    power: float | None = None

    @property
    def n_ratings(self) -> int:
        """Ratings of one system."""
        return self.n_instances * self.ratings_per_instance

    @property
    def dollars(self) -> float:
        """The cost in dollars, to the cent."""
        return self.cents / 100


def plan_half_width(
    half_width: float,
    components: Components,
    *,
    confidence: float = 0.95,
    ratings_per_instance: int = 1,
    n_workers: int | None = None,
    n_days: int | None = None,
    ratings_per_worker: int | None = None,
    ratings_per_day: int | None = None,
    max_instances: int | None = None,
    n_systems: int = 1,
    cents_per_rating: float = 0.0,
) -> Plan:
    """Find how many instances a mean of wanted precision needs.

    Parameters
    ----------
    half_width : float
        Wanted half-width of the interval, > 0, in the unit of the ratings.
    components : Components
        From `worst_case_components` or `pilot_components`.
    confidence : float
        Of the interval.
    ratings_per_instance : int
        Ratings of each output. One is best for a given number of ratings.
    n_workers, n_days : int, optional
        Over how many the ratings are spread.
    ratings_per_worker, ratings_per_day : int, optional
        At most so many ratings (of one system) per worker or day, in place of
        `n_workers` or `n_days`: the plan then counts the workers or days it needs.
    max_instances : int, optional
        How many instances there are. When they are too few with
        `ratings_per_instance`, each is rated more often.
    n_systems : int
        How many systems are rated, for the cost.
    cents_per_rating : float
        Reward and fee, test questions included, per rating.

    Returns
    -------
    Plan
        With the smallest number of instances that is enough; `basis` names variation
        between workers or days that the plan leaves out, because nothing said over how
        many the ratings are spread.

    Raises
    ------
    GenieError
        "out-of-reach" when workers or days alone vary too much for any number of
        instances; the message says how many of them it takes. Also when all of
        `max_instances`, rated a hundred times each, are too few.
    ValueError
        On a wrong half-width, confidence or count.

    References
    ----------
    Khashabi et al. (2022), GENIE, appendix C, solved for n; Cochran (1977), Sampling
    Techniques, section 4.4.

    Examples
    --------
    >>> from leaderboard.stats.components import worst_case_components
    >>> plan = plan_half_width(0.0346, worst_case_components(), cents_per_rating=12)
    >>> plan.n_instances, plan.dollars
    (803, 96.36)
    """
    if not half_width > 0:
        raise ValueError(f"The half-width must be above 0, not {half_width}.")
    z = normal_quantile(confidence)
    if ratings_per_worker is not None and n_workers is not None:
        raise ValueError("Give either the workers or the ratings of each, not both.")
    if ratings_per_day is not None and n_days is not None:
        raise ValueError("Give either the days or the ratings of each, not both.")
    # a little room for rounding, so that a plan that is just enough is taken
    target_variance = (half_width / z) ** 2 * (1 + 1e-12)
    _check_reach(target_variance, components, n_workers, n_days)
    draft = Plan(
        1, ratings_per_instance, n_workers, n_days, confidence, 0, n_systems, 0, ""
    )
    load = Workload(ratings_per_worker, ratings_per_day)
    plan = _fewest_instances(target_variance, components, draft, load, max_instances)
    return replace(
        plan,
        half_width=z * math.sqrt(_variance(components, plan)),
        cents=cost_in_cents(plan, cents_per_rating),
        basis=components.basis + _left_out(components, plan),
    )


def _fewest_instances(
    target_variance: float,
    components: Components,
    draft: Plan,
    load: Workload,
    max_instances: int | None,
) -> Plan:
    most = MAX_INSTANCES if max_instances is None else max_instances
    # new instances first: a second rating of one says less than the first of another
    for extra in range(MAX_RATINGS_PER_INSTANCE):
        per_instance = draft.ratings_per_instance + extra
        tried = replace(draft, ratings_per_instance=per_instance)
        full = staffed(tried, most, load)
        if _variance(components, full) <= target_variance:
            n_instances = smallest(
                lambda n, tried=tried: (  # type: ignore[misc]
                    _variance(components, staffed(tried, n, load)) <= target_variance
                )
            )
            return staffed(tried, n_instances, load)
        if max_instances is None:
            break
    raise GenieError(
        f"Not even {most:,} instances are enough.",
        code="out-of-reach",
        details={"max_instances": most},
    )


def _left_out(components: Components, plan: Plan) -> str:
    names = [
        name
        for name, component, count in (
            ("workers", components.worker, plan.n_workers),
            ("days", components.day, plan.n_days),
        )
        if component > 0 and count is None
    ]
    return f"; variation between {' and '.join(names)} left out" if names else ""


def _check_reach(
    target_variance: float,
    components: Components,
    n_workers: int | None,
    n_days: int | None,
) -> None:
    floor = 0.0
    causes = []
    for name, component, count in (
        ("workers", components.worker, n_workers),
        ("days", components.day, n_days),
    ):
        if count is not None and component > 0:
            floor += component / count
            causes.append(
                f"{count} {name} (at least {math.ceil(component / target_variance) + 1})"
            )
    if floor >= target_variance:
        raise GenieError(
            f"No number of instances is enough with {' and '.join(causes)}: "
            "their variation alone is too large.",
            code="out-of-reach",
            details={
                "floor_sd": math.sqrt(floor),
                "wanted_sd": math.sqrt(target_variance),
            },
        )


@dataclass(frozen=True)
class Workload:
    """How many ratings one worker and one day carry; None where it does not matter."""

    per_worker: int | None = None
    per_day: int | None = None


def staffed(
    plan: Plan, n_instances: int, load: Workload, *, n_systems: int = 1
) -> Plan:
    """Give the plan this many instances, and the workers and days that they need.

    Parameters
    ----------
    plan : Plan
        What is already settled.
    n_instances : int
        Instances, at least 1.
    load : Workload
        At least 1 rating each, where given.
    n_systems : int
        Systems whose ratings the load counts.

    Examples
    --------
    >>> draft = Plan(1, 2, None, None, 0.95, 0.1, 1, 0, "given")
    >>> plan = staffed(draft, 100, Workload(per_worker=30, per_day=50))
    >>> plan.n_workers, plan.n_days
    (7, 4)
    """
    n_ratings = n_instances * plan.ratings_per_instance * n_systems
    workers, days = plan.n_workers, plan.n_days
    for carried in (load.per_worker, load.per_day):
        if carried is not None and carried < 1:
            raise ValueError("A worker or a day needs at least one rating.")
    if load.per_worker is not None:
        # no worker rates one output twice
        workers = max(plan.ratings_per_instance, -(-n_ratings // load.per_worker))
    if load.per_day is not None:
        days = -(-n_ratings // load.per_day)
    return replace(plan, n_instances=n_instances, n_workers=workers, n_days=days)


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
        "out-of-reach" when ten million are not.

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
                f"Not even {MAX_INSTANCES:,} instances are enough.",
                code="out-of-reach",
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def cost_in_cents(plan: Plan, cents_per_rating: float) -> int:
    """Give what the ratings of all systems cost, rounded up to the cent.

    Examples
    --------
    >>> cost_in_cents(Plan(3, 1, None, None, 0.95, 0.1, 1, 0, "given"), 12.5)
    38
    """
    if not cents_per_rating >= 0:
        raise ValueError(f"A rating cannot cost {cents_per_rating} cents.")
    # rounded before it is rounded up: 0.1 cents too much in the last digit is not a
    # cent
    return math.ceil(round(plan.n_ratings * plan.n_systems * cents_per_rating, 6))
