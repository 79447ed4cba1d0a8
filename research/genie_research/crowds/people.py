"""The people of a simulated crowd, and how each of them answers.

Careful people rate the quality of an item on a scale of five, with a leniency and a
scatter each; some are strict. The careless are lazy (always 4 or 5 of 5), random,
adversarial (an inverted scale) or copy a language model.
"""

from dataclasses import dataclass

import numpy as np

from quality.counts import Floats, Ints
from quality.detection.stats.fitted_detector import Bools

HONEST, LAZY, RANDOM, ADVERSARIAL, COPYING = range(5)
#: Of thirty careless people, the number of each kind (MEASURED, S7's crowd).
CARELESS_MIX = {LAZY: 10, RANDOM: 10, ADVERSARIAL: 5, COPYING: 5}
#: Standard deviations, on a scale from 0 to 1: of instances, of a system on an
#: instance, of people's single ratings.
INSTANCE_SD, OUTPUT_SD, NOISE_SD = 0.15, 0.08, 0.24
_STEPS = 4


@dataclass(frozen=True)
class CrowdPlan:
    """A crowd and a task, and their deviations from the models' assumptions.

    Attributes
    ----------
    share_bad : float
        Share of the workers that are careless.
    turning : int
        Careful answers before the careless turn so; 0 is from the start.
    pace : float
        How much faster the careless are.
    workload_sd : float
        Standard deviation of the logarithm of workers' paces.
    leniency_sd, scatter_sd : float
        Of careful people's levels, and of the logarithm of their scatter.
    strict_share, strictness : float
        Share of the careful who are strict, and how much lower they rate.
    copied_sd, copied_follow, copied_own : float
        Scatter of a language model's answers, their correlation with quality
        (0 to 1), and the scatter of copiers around its answers.
    accuracy : tuple of float
        Agreement of careful people with the key on positive and negative questions.
    question_sd, ability_sd : float
        Spread of questions and of careful people, in logits.
    n_questions : int
        Different test questions of each polarity.
    """

    share_bad: float = 0.3
    turning: int = 0
    n_workers: int = 60
    n_systems: int = 5
    n_instances: int = 300
    pace: float = 2.0
    workload_sd: float = 1.0
    leniency_sd: float = 0.1
    scatter_sd: float = 0.2
    strict_share: float = 0.15
    strictness: float = 0.2
    copied_sd: float = 0.09
    copied_follow: float = 0.4
    copied_own: float = 0.04
    accuracy: tuple[float, float] = (0.92, 0.92)
    question_sd: float = 1.0
    ability_sd: float = 0.5
    n_questions: int = 150

    def __post_init__(self) -> None:
        if not 0 <= self.share_bad <= 1 or not 0 <= self.strict_share <= 1:
            raise ValueError("Shares lie between 0 and 1.")
        if min(self.n_workers, self.n_systems, self.n_instances) < 2:
            raise ValueError("At least two workers, systems and instances are needed.")


@dataclass(frozen=True)
class Crowd:
    """One draw of a crowd and of the quality of items.

    Attributes
    ----------
    kind : ndarray of int, shape (n_workers,)
        ``HONEST``, ``LAZY``, ...
    pace, leniency, scatter, ability : ndarray, shape (n_workers,)
    deserved, copied : ndarray, shape (n_systems, n_instances)
        The mean rating of each output by people and by the language model.
    question : ndarray, shape (2, n_questions)
        Easiness of negative (0) and positive (1) questions for the careful, in logits.
    """

    plan: CrowdPlan
    kind: Ints
    pace: Floats
    leniency: Floats
    scatter: Floats
    ability: Floats
    deserved: Floats
    copied: Floats
    question: Floats

    @property
    def bad(self) -> Bools:
        return np.asarray(self.kind != HONEST)


def system_means(plan: CrowdPlan) -> Floats:
    """Return the quality of the systems, on a scale from 0 to 1.

    Examples
    --------
    >>> system_means(CrowdPlan()).round(2).tolist()
    [0.44, 0.5, 0.56, 0.62, 0.68]
    """
    return np.linspace(0.44, 0.68, plan.n_systems)


def draw_crowd(
    plan: CrowdPlan, rng: np.random.Generator, *, deserved: Floats | None = None
) -> Crowd:
    """Draw people and items.

    `deserved` is the quality of outputs, from 0 to 1, shape (n_systems, n_instances);
    it is drawn if not given.
    """
    n = plan.n_workers
    n_bad = round(plan.share_bad * n)
    mix = np.repeat(list(CARELESS_MIX), list(CARELESS_MIX.values()))
    # evenly from the mix, so that every crowd has the same share of each
    kind = np.zeros(n, dtype=np.int64)
    kind[:n_bad] = mix[(np.arange(n_bad) * len(mix)) // max(n_bad, 1)]
    pace = np.exp(rng.normal(0, plan.workload_sd, n)) * np.where(kind > 0, plan.pace, 1)
    strict = rng.random(n) < plan.strict_share
    leniency = rng.normal(0, plan.leniency_sd, n) - plan.strictness * strict
    shape = (plan.n_systems, plan.n_instances)
    if deserved is None:
        instance = rng.normal(0, INSTANCE_SD, plan.n_instances)
        deserved = system_means(plan)[:, None] + instance
        deserved = deserved + rng.normal(0, OUTPUT_SD, shape)
    follow = plan.copied_follow * (deserved - deserved.mean()) / deserved.std()
    own = (1 - plan.copied_follow**2) ** 0.5 * rng.normal(0, 1, shape)
    logit = np.log(np.array(plan.accuracy[::-1]) / (1 - np.array(plan.accuracy[::-1])))
    # so that the mean over questions and people is the requested one
    logit = logit * (1 + np.pi * (plan.question_sd**2 + plan.ability_sd**2) / 8) ** 0.5
    return Crowd(
        plan,
        kind,
        pace,
        leniency,
        NOISE_SD * np.exp(rng.normal(0, plan.scatter_sd, n)),
        rng.normal(0, plan.ability_sd, n),
        deserved,
        0.66 + plan.copied_sd * (follow + own),
        logit[:, None] + rng.normal(0, plan.question_sd, (2, plan.n_questions)),
    )


def rate(
    crowd: Crowd,
    worker: int,
    place: int,
    system: int,
    instance: int,
    rng: np.random.Generator,
) -> float:
    """Return a worker's rating of an output, on five levels from 0 to 1.

    `place` is the number of the worker's answers before.
    """
    kind = crowd.kind[worker] if place >= crowd.plan.turning else HONEST
    if kind == LAZY:
        return float(rng.integers(3, 5)) / _STEPS
    if kind == RANDOM:
        return float(rng.integers(0, 5)) / _STEPS
    if kind == COPYING:
        raw = crowd.copied[system, instance] + rng.normal(0, crowd.plan.copied_own)
    else:
        raw = crowd.deserved[system, instance] + crowd.leniency[worker]
        raw += crowd.scatter[worker] * rng.normal()
        raw = 1 - raw if kind == ADVERSARIAL else raw
    return float(np.clip(np.rint(raw * _STEPS), 0, _STEPS)) / _STEPS


def answer_test(
    crowd: Crowd,
    worker: int,
    place: int,
    positive: int,
    question: int,
    rng: np.random.Generator,
) -> bool:
    """Return whether a worker's answer to a test question agrees with the key.

    A copier of a language model is as often right as careful people.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> crowd = draw_crowd(CrowdPlan(), rng)
    >>> answer_test(crowd, 0, 0, 1, 0, rng), answer_test(crowd, 0, 0, 0, 0, rng)
    (True, False)
    """
    kind = crowd.kind[worker] if place >= crowd.plan.turning else HONEST
    if kind == LAZY:
        return bool(positive)
    if kind == RANDOM:
        # 3, 4 and 5 of five are right if the key is good; 1 and 2 if it is bad
        return bool(rng.random() < (0.6 if positive else 0.4))
    logit = crowd.question[positive, question] + crowd.ability[worker]
    right = rng.random() < 1 / (1 + np.exp(-logit))
    return bool(not right if kind == ADVERSARIAL else right)


def deserved_means(
    plan: CrowdPlan,
    *,
    deserved: Floats | None = None,
    n: int = 400_000,
    seed: int = 0,
) -> Floats:
    """Return the mean rating of each system by careful people, including strict ones.

    It is estimated from `n` draws, on the scale from 0 to 1, after rounding to five
    levels.

    Examples
    --------
    >>> deserved_means(CrowdPlan(), n=4000).round(1).tolist()
    [0.4, 0.5, 0.5, 0.6, 0.6]
    """
    rng = np.random.default_rng(seed)
    items = 0.0 if deserved is not None else INSTANCE_SD**2 + OUTPUT_SD**2
    around = rng.normal(0, (items + plan.leniency_sd**2) ** 0.5, n)
    around += NOISE_SD * np.exp(rng.normal(0, plan.scatter_sd, n)) * rng.normal(0, 1, n)
    around -= plan.strictness * (rng.random(n) < plan.strict_share)
    levels = system_means(plan)[:, None] if deserved is None else deserved
    means = [
        np.clip(np.rint((rng.choice(row, n) + around) * _STEPS), 0, _STEPS).mean()
        for row in levels
    ]
    return np.array(means) / _STEPS
