"""The effect of careless workers on scores, after tests, stops and weights."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from genie_research.boards.crowd_simulation import Share
from genie_research.crowds.campaign import CampaignPlan, Outcome, run_campaign
from genie_research.crowds.order import order_auc, places_of
from genie_research.crowds.people import (
    COPYING,
    Crowd,
    CrowdPlan,
    deserved_means,
    draw_crowd,
)
from leaderboard.stats.intervals import Floats
from leaderboard.stats.systems.estimates import estimate_systems

#: Staff are warned of a bad crowd if at least this share is surely careless.
ALARM = 1 / 3


@dataclass(frozen=True)
class CleaningResult:
    """Means over the campaigns of one cell, in percent for shares.

    Attributes
    ----------
    noisy_before : Share
        Careless answers among the ratings that were given.
    noisy, noisy_copied : Share
        Among the weight of ratings that count: without and with those copied from a
        language model.
    stopped : Share
        Careless workers who were stopped, without copiers.
    stop_median : float
        Answers before a stop, of those stopped (of the careless ones after a turn).
    excluded : Share
        Honest workers who were stopped at the end.
    kept, tests : Share
        Weight of ratings that count, for every 100 outputs; tests among all answers.
    bias : Share
        Of scores on a scale of 100, against the legitimate crowd.
    coverage : Share
        Of nominal 95% intervals.
    alarm : Share
        Campaigns in which staff were warned.
    order : Share
        Area under the ROC curve of the best rule that distinguishes tests from ratings
        by their place among a careful worker's first forty items.
    first : Share
        Tests among the first items of careful workers.
    """

    crowd: CrowdPlan
    campaign: CampaignPlan
    n_tasks: int
    noisy_before: Share
    noisy: Share
    noisy_copied: Share
    stopped: Share
    stop_median: float
    excluded: Share
    kept: Share
    tests: Share
    bias: Share
    rmse: float
    coverage: Share
    alarm: Share
    order: Share
    first: Share


def simulate_cleaning(
    crowd: CrowdPlan,
    campaign: CampaignPlan,
    *,
    n_tasks: int,
    seed: int,
    deserved: Floats | None = None,
    run: Callable[[Crowd, CampaignPlan, np.random.Generator], Outcome] = run_campaign,
) -> CleaningResult:
    """Run campaigns with crowds that are partly careless, and score the systems.

    Parameters
    ----------
    seed : int
        The first tasks of a longer study are those of a shorter one.
    deserved : ndarray, shape (n_systems, n_instances), optional
        Quality of the outputs, from 0 to 1, in place of drawn ones.
    run : callable, optional
        A different way to run a campaign than by simulation alone.

    References
    ----------
    T. Morris, I. White and M. Crowther, Statistics in Medicine 38 (2019), tables 6 and 7
    (measures, Monte-Carlo errors).
    """
    if n_tasks < 2:
        raise ValueError("At least two tasks are needed.")
    if deserved is not None:
        shape = deserved.shape
        crowd = replace(crowd, n_systems=shape[0], n_instances=shape[1])
    truth = 100 * deserved_means(crowd, deserved=deserved)
    rows, stops, places = [], [], []
    for task in range(n_tasks):
        rng = np.random.default_rng([seed, task])
        people = draw_crowd(crowd, rng, deserved=deserved)
        outcome = run(people, campaign, rng)
        rows.append(_row(people, outcome, truth))
        careless = people.bad & (people.kind != COPYING)
        careless &= outcome.answered > crowd.turning
        stops.append(outcome.stopped_after[careless])
        places.append(places_of(people, outcome))
    table = np.array(rows)
    stopped = np.concatenate(stops)
    found = stopped[np.isfinite(stopped)]
    mean = [_share(table[:, column]) for column in range(table.shape[1])]
    return CleaningResult(
        crowd=crowd,
        campaign=campaign,
        n_tasks=n_tasks,
        noisy_before=mean[0],
        noisy=mean[1],
        noisy_copied=mean[2],
        stopped=_share(
            np.array([100 * np.isfinite(s).mean() for s in stops if len(s)] or [np.nan])
        ),
        stop_median=float(np.median(found)) if len(found) else float("nan"),
        excluded=mean[3],
        kept=mean[4],
        tests=mean[5],
        bias=mean[6],
        rmse=float(np.nanmean(table[:, 7]) ** 0.5),
        coverage=mean[8],
        alarm=mean[9],
        order=_share(order_auc(places)),
        first=_share(np.array([_first(one) for one in places])),
    )


def _row(crowd: Crowd, outcome: Outcome, truth: Floats) -> list[float]:
    weight, noisy = outcome.weight, outcome.noisy
    total = max(float(weight.sum()), 1e-9)
    own = noisy & ~outcome.copied
    stopped = np.isfinite(outcome.stopped_after)
    off, held = _scored(outcome, truth)
    return [
        100 * float(noisy.mean()),
        100 * float(weight @ own) / total,
        100 * float(weight @ noisy) / total,
        100 * float(stopped[~crowd.bad].mean()) if (~crowd.bad).any() else 0.0,
        100 * total / crowd.deserved.size,
        100 * outcome.n_tests / float(outcome.answered.sum()),
        float(np.nanmean(off)),
        float(np.nanmean(off**2)),
        100 * float(np.nanmean(held)),
        100.0 * (outcome.share_low > ALARM),
    ]


def _first(places: Floats) -> float:
    ratings, tests = places[:, 0]
    return 100 * float(tests / (tests + ratings)) if tests + ratings else float("nan")


def _scored(outcome: Outcome, truth: Floats) -> tuple[Floats, Floats]:
    from scipy import special

    off, held = np.full(len(truth), np.nan), np.full(len(truth), np.nan)
    counts = outcome.weight > 0
    if not counts.any():
        return off, held
    found = estimate_systems(
        100 * outcome.value[counts],
        outcome.system[counts],
        outcome.worker[counts],
        outcome.instance[counts],
        weights=outcome.weight[counts],
    )
    freedom = np.nan_to_num(np.diag(found.freedom), nan=1.0)
    reach = special.stdtrit(freedom, 0.975) * np.sqrt(np.diag(found.variance))
    place = np.array([int(name) for name in found.systems])
    off[place] = found.means - truth[place]
    held[place] = np.abs(off[place]) <= reach
    return off, held


def _share(column: Floats) -> Share:
    if np.isnan(column).all():
        return Share(float("nan"), float("nan"))
    value = float(np.nanmean(column))
    if len(column) < 2:
        return Share(value, float("nan"))
    return Share(value, float(np.nanstd(column, ddof=1) / len(column) ** 0.5))
