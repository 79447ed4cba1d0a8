"""Expected results of a comparison or a joint evaluation, shown before its approval.

The plans are those of `precision` for one submission. They use the variances of the
task's ratings so far, or the worst case that the scale allows.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowd.scales.base import all_scales
from genie.lib.errors import GenieError
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
)
from leaderboard.evaluation.price import CONFIDENCE, FEWEST_WORKERS, quote_comparison
from leaderboard.evaluation.selectors.comparison_labels import (
    n_workers_at_most,
    rule_for,
    rule_of,
)
from leaderboard.evaluation.services.comparison import (
    MOST_PAIRS,
    STRATEGIES,
    Question,
    Strategy,
    rule_in,
)
from leaderboard.evaluation.services.joint import human_for
from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.mixed import Components, mean_variance, worst_case_components
from leaderboard.stats.planning import plan_half_width
from leaderboard.stats.stopping.sequential import LiveRule, exact_walk
from leaderboard.stats.stopping.sign_flips import TYPICAL_SD, SignFlips
from leaderboard.tasks.models import Task

State = HumanEvaluation.State
# Half-widths of intervals to plan for, in points or in percent of a magnitude.
_POINTS, _PERCENT = (5.0, 3.0), (10.0, 5.0)
# Shares of labels for the better system to plan for, and of answers.
_PREFERENCES, SHARE = (0.6, 0.7), 0.65
_FARTHEST = 5_000
_WORST = "This is the worst case; differences between raters are not included."


@dataclass(frozen=True)
class _Work:
    n_instances: int
    each: int
    n_workers: int
    cents_each: float
    most: int
    # of the items that show the system: less than 1 if a page shows only some
    share: float = 1.0
    # as many as earlier work of the kind took, if days are modeled
    n_days: int | None = None

    @property
    def per_worker(self) -> int:
        n_ratings = self.share * self.n_instances * self.each
        return max(round(n_ratings / self.n_workers), 1)


def expected_labels(task: Task, asked: Question) -> dict[str, Any]:
    """Return what each strategy needs if `SHARE` of the answers prefer one system."""
    from scipy import special

    human, rows = task.configuration.comparison, []
    most = min(asked.max_pairs, task.n_instances)
    fewest = SignFlips(asked.delta / 2).fewest_workers(most)
    n_people = max(human.n_workers_wanted, fewest)
    for strategy, n_workers, words in STRATEGIES.values():
        question = replace(
            asked, strategy=strategy, n_workers=n_workers, max_pairs=most
        )
        at_most = n_workers_at_most(strategy, n_workers)
        each = (
            2 + 2 * SHARE * (1 - SHARE) if strategy == Strategy.MAX_THREE else at_most
        )
        rule = rule_for(rule_in(task, question), asked.delta)
        agree = float(special.bdtrc(at_most // 2, at_most, SHARE))
        labels = _labels(rule, agree, n_people)
        price = quote_comparison(human, replace(question, max_pairs=labels or most))
        rows.append(
            {
                "words": words,
                "rule": rule,
                "labels": labels,
                "answers": math.ceil((labels or most) * each),
                "cents": math.ceil(price.total_cents * each / at_most),
                "is_asked": (strategy, n_workers) == (asked.strategy, asked.n_workers),
            }
        )
    return {
        "rows": rows,
        "fewest": fewest,
        "n_people": n_people,
        "most": most,
        "share": SHARE,
    }


def _labels(rule: LiveRule, share: float, n_people: int) -> int | None:
    # in half of simulated comparisons, if the rough power is .4
    n = 1 + bisect_left(
        range(1, MOST_PAIRS + 1),
        True,
        key=lambda n: (
            rule.power(share, n, n_people) >= 0.4
            if isinstance(rule, SignFlips)
            else rule.decides(n, n * share)
        ),
    )
    return n if n <= MOST_PAIRS else None


def expected_decision(comparison: Comparison, n_workers: int) -> list[str]:
    # a budget may exceed the number of available pairs
    n = min(comparison.max_pairs, comparison.task.n_instances, _FARTHEST)
    rule, needs, given = rule_of(comparison), list[str](), "labels being independent"
    if comparison.strategy == Strategy.FIXED:
        needs = ["A single rater answers everything, so other raters might disagree."]
    if isinstance(rule, SignFlips):
        chances = [rule.power(share, n, n_workers) for share in _PREFERENCES]
        given = f"workers’ log-odds having a standard deviation of {TYPICAL_SD:g}"
        needs = [
            f"{rule.name} needs at least {rule.fewest_workers(n)} workers to decide; "
            f"{n_workers:,} are wanted."
        ]
    else:
        chances = [exact_walk(rule, p, n).decided_by[-1] for p in _PREFERENCES]
    return needs + [
        f"If {100 * share:.0f}% of labels prefer one system, {rule.name} decides within "
        f"these pairs with a probability of {100 * chance:.0f}%, {given}."
        for share, chance in zip(_PREFERENCES, chances, strict=True)
    ]


def expected_magnitudes(
    joint: JointEvaluation, cents: int, n_workers: int
) -> list[str]:
    human, criterion = human_for(joint), joint.criteria[0]
    unit = all_designs()[human.design].unit(
        criterion, all_scales()[human.scale], asked=True
    )
    pilot, n, n_days = _earlier_ratings(joint, criterion)
    if unit.logarithmic and pilot is None:
        return [
            "Magnitudes have no worst case: what precision to expect is known after the "
            f"first joint evaluation of this task by at least {FEWEST_WORKERS} workers."
        ]
    low, high = unit.bounds
    components = pilot or worst_case_components(low=low, high=high)
    n_pages = joint.n_asked * joint.n_workers
    n_systems = joint.systems.count()
    work = _Work(
        joint.n_asked,
        joint.n_workers,
        max(min(n_workers, n_pages), 2),
        cents / n_pages,
        joint.task.n_instances,
        (joint.per_page / n_systems) if joint.per_page else 1.0,
        n_days,
    )
    half = _half_width(components, work)
    basis = (
        f"Estimated from {n:,} pages of an earlier joint evaluation."
        + (f" It is taken to last {n_days} days, as before." if n_days else "")
        if pilot
        else _WORST
    )
    sizes = [
        (
            f"± {size:g} {'%' if unit.logarithmic else 'points'}",
            float(np.log1p(size / 100)) if unit.logarithmic else size,
        )
        for size in (_PERCENT if unit.logarithmic else _POINTS)
    ]
    shown = 100 * math.expm1(half) if unit.logarithmic else half
    return [
        f"{work.n_instances:,} instances and {work.n_workers:,} workers give a system’s "
        f"score to about ± {shown:.1f}{'%' if unit.logarithmic else ' points'} (95% "
        f"interval, {criterion}). {basis}",
        *(_aim(words, width, components, work) for words, width in sizes),
    ]


def _earlier_ratings(
    joint: JointEvaluation, criterion: str
) -> tuple[Components | None, int, int | None]:
    earlier = JointEvaluation.objects.filter(
        task=joint.task,
        simulated=joint.simulated,
        design=joint.design,
        state=State.SCORED,
    ).order_by("-pk")
    for row in earlier:
        about = row.results.get("criteria", {}).get(criterion, {})
        found = about.get("variances")
        if found is None or about["n_workers"] < FEWEST_WORKERS:
            continue
        pilot = Components(
            *(
                found.get(name, 0.0)
                for name in ("residual", "instance", "worker", "day")
            )
        )
        if pilot.total > 0:
            return pilot, about["n_judgements"], round(found.get("n_days", 0)) or None
    return None, 0, None


def _half_width(components: Components, work: _Work) -> float:
    own = max(round(work.share * work.n_instances), 1)
    variance = mean_variance(components, own, work.each, work.n_workers, work.n_days)
    return normal_quantile(CONFIDENCE) * math.sqrt(variance)


def _aim(words: str, width: float, components: Components, work: _Work) -> str:
    try:
        plan = plan_half_width(
            width,
            components,
            confidence=CONFIDENCE,
            ratings_per_instance=work.each,
            ratings_per_worker=work.per_worker,
            n_days=work.n_days,
            max_instances=max(int(work.share * work.most), 1),
        )
    except GenieError:
        return f"{words} is out of reach with the task’s {work.most:,} instances."
    n_items = math.ceil(round(plan.n_instances / work.share, 6))
    cents = n_items * plan.ratings_per_instance * work.cents_each
    dollars = math.ceil(round(cents, 6)) / 100
    return (
        f"{words} takes {n_items:,} instances, "
        f"{plan.ratings_per_instance:,} answer{'s' if plan.ratings_per_instance > 1 else ''} "
        f"each, and {plan.n_workers:,} workers: about ${dollars:,.2f}."
    )
