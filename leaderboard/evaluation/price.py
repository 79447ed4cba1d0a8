"""Prices of evaluations, to the cent."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from crowd.platforms.base import kind_of
from crowd.pricing import Quote
from crowd.scales.base import all_scales
from genie.lib.errors import GenieError
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.board_ratings import current_fit
from leaderboard.evaluation.selectors.comparison_labels import n_workers_at_most
from leaderboard.evaluation.selectors.ranked_scores import anchor_for, anchor_of
from leaderboard.evaluation.services.comparison import Question
from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.mixed import (
    Components,
    blended_components,
    mean_variance,
    usual_components,
    worst_case_components,
)
from leaderboard.stats.planning import Plan, outlook, plan_half_width
from leaderboard.stats.power import largest_sd_of_difference, paired_power, plan_power
from leaderboard.tasks.config import ComparisonConfig, HumanConfig
from leaderboard.tasks.models import Task
from quality.detection.stats.assess import can_tell


def quote_part(task: Task, *, n_anchor_items: int = 0) -> Quote:
    human = task.human
    return human.price(
        n_items=task.sample_size,
        n_test_questions=sum(human.n_test_questions(task.sample_size)),
        ratings_per_item=human.ratings_per_instance,
        n_anchor_items=n_anchor_items,
    )


def quote_single(task: Task, *, n_anchor_items: int = 0) -> Quote:
    part = quote_part(task, n_anchor_items=n_anchor_items)
    return part.times(len(task.human.separate()))


def quote_of(evaluation: HumanEvaluation) -> Quote:
    """Price one system after the other, each as if it were alone."""
    anchor = anchor_for(evaluation)
    one = quote_single(evaluation.task, n_anchor_items=anchor.n if anchor else 0)
    return one.times(len(evaluation.alone))


def quote_side_by_side(human: HumanConfig, n_instances: int, n_workers: int) -> Quote:
    part = human.price(
        n_items=n_instances,
        n_test_questions=sum(human.n_test_questions(n_instances)),
        ratings_per_item=n_workers,
    )
    return part.times(len(human.separate()))


def quote_comparison(human: ComparisonConfig, asked: Comparison | Question) -> Quote:
    """Price a comparison that uses all of its pairs."""
    return human.price(
        n_items=asked.max_pairs,
        n_test_questions=human.n_tests_among(asked.max_pairs),
        ratings_per_item=n_workers_at_most(asked.strategy, asked.n_workers),
    )


def cents_per_rating(task: Task) -> float:
    """Return the cost of one more rating with fee, test questions and re-posting."""
    # the whole price over the ratings it buys: test questions, anchors and fees are in
    # each rating's share
    n = task.sample_size * task.human.ratings_per_instance
    anchor = anchor_of(task)
    part = quote_part(task, n_anchor_items=anchor.n if anchor else 0)
    return part.total_cents / n if n else 0.0


def crowd_wanted(task: Task, *, n_anchor_items: int = 0, needed: int = 0) -> str:
    """Return the size of the crowd; `needed` is by the rule on nearly equal texts."""
    human = task.human
    n = task.sample_size
    n_items = n + sum(human.n_test_questions(n)) + n_anchor_items
    n_each = human.ratings_per_instance
    n_hits = n_items * n_each + human.n_twice(n_items, n_each)
    wanted = f"At least {human.n_workers_wanted:,}."
    if needed > human.n_workers_wanted:
        wanted = (
            f"At least {needed:,}: no worker sees an input twice, or two texts that "
            "differ by less than five characters."
        )
    platform = kind_of(human.platform)
    if platform.capabilities.answers_there:
        return f"{wanted} {platform.title} lets each do as many HITs as they like."
    if human.share_of_one == 1:
        return f"{wanted} Each may do as many HITs as they like."
    percent = round(100 * human.share_of_one)
    each = f"{math.ceil(human.share_of_one * n_hits - 1e-9):,} of {n_hits:,} HITs"
    sentence = f"{wanted} Each may do at most {percent}% of a campaign: {each}."
    if human.share_follows_crowd:
        sentence += " If fewer are active, each may do up to twice an equal share."
    return sentence


def is_too_small(task: Task, n_systems: int = 1) -> bool:
    """Check whether the planned workers cannot be told apart by so many answers."""
    human, n = task.human, task.sample_size
    each = n_systems * human.ratings_per_instance / human.n_workers_wanted
    n_tests = sum(human.n_test_questions(n))
    return not can_tell(human.n_workers_wanted, n_tests * each, n * each)


# Expected precision of a planned evaluation, from the variances of the task's ratings.

# The difference in points that an evaluation should find, and its power.
DIFFERENCE, POWER = 5.0, 0.8
_WIDTHS = (5.0, 3.0, 2.0)
CONFIDENCE = 0.95
# Fewer workers are too few to estimate their variance.
FEWEST_WORKERS = 5


@dataclass(frozen=True)
class Aim:
    """The work that an aim needs for one system; all None if it cannot be reached."""

    words: str
    n_instances: int | None = None
    ratings_each: int | None = None
    n_workers: int | None = None
    cents: int | None = None


@dataclass(frozen=True)
class Precision:
    """The expected results of an evaluation as planned by the task.

    `half_width` is that of a score's 95% interval, in points. `power` is the
    probability of distinguishing two systems that truly differ by `DIFFERENCE`. `pilot`
    is whether the variances come from `n_ratings` ratings, not from the worst case, and
    `on_board` whether these are on the task's board.
    """

    half_width: float
    power: float
    n_instances: int
    n_workers: int
    pilot: bool
    n_ratings: int
    aims: list[Aim]
    # number, then half-width and difference for these raters and for raters like these
    raters: list[tuple[int, tuple[float, float], tuple[float, float]]]
    assumed: Components
    n_systems: int
    on_board: bool = True
    difference: float = DIFFERENCE
    # 95% interval of raters' spread after a pilot, in multiples of the estimate
    spread: Sequence[float] = ()


def expected_precision(
    task: Task, measured: tuple[Components, int, int] | None = None, n_systems: int = 2
) -> Precision | None:
    """Plan a submission's evaluation; None for magnitudes, which have no points.

    `measured` has a pilot's variances and numbers of ratings and raters.
    """
    from scipy import special

    human = task.human
    unit = all_designs()[human.design].unit(
        _ranking(human), all_scales()[human.scale], asked=True
    )
    if unit.logarithmic:
        return None
    pilot, n_ratings, n_days = (
        (*measured[:2], None) if measured else board_variances(task)
    )
    low, high = unit.bounds
    # of a standard deviation, by chi-square
    free = max(measured[2] - 1, 1) if measured else 1
    spread = [math.sqrt(free / special.chdtri(free, tail)) for tail in (0.025, 0.975)]
    usual = usual_components(low=low, high=high)
    assumed = (
        blended_components(measured[0], usual, measured[2])
        if measured
        else pilot or usual
    )
    components = pilot or worst_case_components(low=low, high=high)
    n, each = task.sample_size, human.ratings_per_instance
    workers = max(min(human.n_workers_wanted, n * each), 2)
    variance = mean_variance(components, n, each, workers, n_days)
    sd = _sd_of_difference(components, each, n * each / workers, high - low, pilot)
    expect = partial(
        outlook,
        *(assumed, n),
        # a board's effects of instances cancel in differences, a pilot's perhaps half
        apart=0.0 if pilot and not measured else 0.5,
        n_pairs=math.comb(n_systems, 2),
    )
    return Precision(
        half_width=normal_quantile(CONFIDENCE) * math.sqrt(variance),
        power=paired_power(max(n, 2), DIFFERENCE, sd) if sd > 0 else 1.0,
        n_instances=n,
        n_workers=workers,
        pilot=pilot is not None,
        n_ratings=n_ratings,
        on_board=measured is None,
        aims=_aims(task, components, workers, n_days, sd),
        raters=[
            (n_raters, expect(n_raters, each, fixed=True), expect(n_raters, each))
            for n_raters in (3, 5, 10, 20)
        ],
        assumed=assumed,
        n_systems=n_systems,
        spread=spread,
    )


def _ranking(human: HumanConfig) -> str:
    return next(iter(human.criteria), "overall")


def board_variances(
    task: Task, criterion: str = ""
) -> tuple[Components | None, int, int | None]:
    """Return variances, number of ratings, and days of the board's fit.

    The variances are None with too few workers. By default of the ranking criterion.
    """
    # a task that is not loaded yet has no board
    fit = current_fit(task) if task.pk else None
    stored = fit.criteria.get(criterion or _ranking(task.human)) if fit else None
    if stored is None or max(stored["n_workers"]) < FEWEST_WORKERS:
        return None, 0, None
    found = stored["variances"]
    residual, instance, worker = (
        float(found[name]) for name in ("residual", "instance", "worker")
    )
    # the shared part of a worker's ratings of one system acts like the worker's level
    taste = float(found.get("taste", 0.0))
    day, n_days = float(found.get("day", 0.0)), None
    if freedom := stored.get("day_freedom"):
        n_days = round(freedom + 1)
    pilot = Components(
        residual - taste, instance, worker, day, taste, basis="the board's ratings"
    )
    if pilot.total <= 0:
        return None, 0, None
    return pilot, int(sum(stored["n"])), n_days


def _sd_of_difference(
    components: Components,
    each: int,
    per_worker: float,
    scale: float,
    pilot: Components | None,
) -> float:
    """Return the SD of the difference of two systems on one instance.

    Each system has separate workers, whose levels count once for each of their
    instances. Effects of the instance on both systems cancel.
    """
    if pilot is None:
        return largest_sd_of_difference(
            min(DIFFERENCE, scale), low=0.0, high=scale, independent=True
        )
    level = (components.worker + components.taste) * per_worker
    return math.sqrt(2 * (level + components.residual) / each)


def _aims(
    task: Task, components: Components, workers: int, n_days: int | None, sd: float
) -> list[Aim]:
    each = task.human.ratings_per_instance
    per_worker = max(round(task.sample_size * each / workers), 1)
    aims = []
    for width in _WIDTHS:
        words = f"A 95% interval of ± {width:g} points"
        try:
            plan = plan_half_width(
                width,
                components,
                confidence=CONFIDENCE,
                ratings_per_instance=each,
                ratings_per_worker=per_worker,
                n_days=n_days,
                max_instances=task.n_instances,
            )
        except GenieError:
            aims.append(Aim(words))
            continue
        aims.append(_aim(words, plan, per_worker, task))
    return [*aims, _of_power(task, sd, per_worker)]


def _of_power(task: Task, sd: float, per_worker: int) -> Aim:
    words = f"{100 * POWER:.0f}% power to find a difference of {DIFFERENCE:g} points"
    if sd <= 0:
        return Aim(words)
    try:
        plan = plan_power(DIFFERENCE, sd, power=POWER)
    except GenieError:
        return Aim(words)
    plan = replace(plan, ratings_per_instance=task.human.ratings_per_instance)
    return _aim(words, plan, per_worker, task)


def _aim(words: str, plan: Plan, per_worker: int, task: Task) -> Aim:
    n_ratings = plan.n_ratings
    # no worker rates one output twice
    workers = max(math.ceil(n_ratings / per_worker), plan.ratings_per_instance)
    cents = math.ceil(round(n_ratings * cents_per_rating(task), 6))
    return Aim(words, plan.n_instances, plan.ratings_per_instance, workers, cents)
