"""Simulated crowds with workers who use a language model, and the signs' power."""

from dataclasses import dataclass

import numpy as np

from genie_research.authenticity.auroc import auroc
from quality.authenticity.stats.likelihood_ratio import Answers, assess_authenticity
from quality.counts import Floats, Ints

#: Correlation of one person's answers with quality: two people's correlate by .49.
PERSON = 0.7
SHARES, COUNTS, JUDGES, SPREADS = (
    (0.1, 0.35),
    (25, 100),
    (0.3, 0.5, 0.7),
    (1.0, 0.5, 0.3),
)
N_WORKERS, N_RATINGS, N_SYSTEMS = 40, 3, 8
_CUTS = np.array([-1.2, -0.4, 0.4, 1.2])


@dataclass(frozen=True)
class Crowd:
    """One simulated crowd.

    Parameters
    ----------
    share : float
        Share of workers who let a model answer.
    n_answers : int
        Of each worker.
    judge : float
        Correlation of a model's answers, the judge's and the copied ones, with quality.
    spread : float
        Standard deviation of the copied answers in that of people's.
    repeat : float
        Correlation of two answers of the model to one text: the judge's and the copied.
    """

    share: float
    n_answers: int
    judge: float
    spread: float
    repeat: float = 0.6


@dataclass(frozen=True)
class Cell:
    """Power of the signs in many crowds of a kind.

    `parts` are the areas of the single signs; `named` and `wronged` the shares of
    models and of people whom the evidence calls unusual.
    """

    crowd: Crowd
    n_tasks: int
    area: float
    error: float
    parts: dict[str, float]
    named: float
    wronged: float


def simulate_crowd(crowd: Crowd, rng: np.random.Generator) -> tuple[Answers, Ints]:
    """Draw the answers of a crowd, on five points, and who copies (1) or not (0).

    Quality is that of systems (.2 of its variance), instances (.5) and texts (.3). A
    person has a strictness (sd .3) and a spread (log sd .2); so have those
    who copy, since they choose the wording of what they ask the model.
    """
    worker, text, n_texts = _who_rates_what(crowd.n_answers, rng)
    instance, system = np.arange(n_texts) // N_SYSTEMS, np.arange(n_texts) % N_SYSTEMS
    quality = (
        np.sqrt(0.2) * rng.normal(size=N_SYSTEMS)[system]
        + np.sqrt(0.5) * rng.normal(size=instance[-1] + 1)[instance]
        + np.sqrt(0.3) * rng.normal(size=n_texts)
    )
    copies = np.zeros(N_WORKERS, dtype=np.int64)
    copies[: max(1, round(crowd.share * N_WORKERS))] = 1
    own = np.sqrt(max(crowd.repeat - crowd.judge**2, 0.0)) * rng.normal(size=n_texts)
    opinion = crowd.judge * quality + own
    noise = np.sqrt(1 - max(crowd.repeat, crowd.judge**2))
    judge = opinion + noise * rng.normal(size=n_texts)
    person = PERSON * quality[text] + np.sqrt(1 - PERSON**2) * rng.normal(
        size=text.size
    )
    copied = crowd.spread * (opinion[text] + noise * rng.normal(size=text.size))
    strict, wide = 0.3 * rng.normal(size=N_WORKERS), rng.normal(size=N_WORKERS)
    felt = np.where(copies[worker] == 1, copied, person) * np.exp(0.2 * wide[worker])
    value = np.searchsorted(_CUTS, felt + strict[worker]) / 4
    answers = Answers(worker, text, instance[text], system[text], value, judge[text])
    return answers, copies


def _who_rates_what(n_answers: int, rng: np.random.Generator) -> tuple[Ints, Ints, int]:
    n_texts = -(-N_WORKERS * n_answers // N_RATINGS)
    texts = np.concatenate([rng.permutation(n_texts) for _ in range(N_RATINGS)])
    texts = texts[: N_WORKERS * n_answers]
    worker = np.repeat(np.arange(N_WORKERS), n_answers)
    for _ in range(20):
        key = worker * n_texts + texts
        _, first = np.unique(key, return_index=True)
        again = np.setdiff1d(np.arange(key.size), first)
        if not again.size:
            break
        place = rng.integers(0, key.size, again.size)
        for one, other in zip(again, place, strict=True):
            texts[one], texts[other] = texts[other], texts[one]
    return worker, texts, n_texts


def study_cell(crowd: Crowd, n_tasks: int, seed: int) -> Cell:
    """Draw many crowds of a kind and average the area under the ROC curve within each.

    The error is that of the simulation: the standard deviation over crowds, by the root
    of their number.
    """
    rng = np.random.default_rng(
        [seed, *(round(100 * x) for x in (crowd.share, crowd.judge, crowd.spread, crowd.repeat)), crowd.n_answers]
    )  # fmt: skip
    areas, unusual = [], []
    parts: dict[str, list[float]] = {"judge": [], "shared": [], "narrow": []}
    for _ in range(n_tasks):
        answers, copies = simulate_crowd(crowd, rng)
        signs = assess_authenticity(answers)
        areas.append(_area(signs.log_ratio, copies))
        unusual.append([signs.unusual[copies == kind].mean() for kind in (1, 0)])
        parts["judge"].append(_area(signs.judge.value, copies))
        parts["shared"].append(_area(signs.shared.value, copies))
        parts["narrow"].append(_area(-signs.narrow.value, copies))
    means = {name: float(np.nanmean(column)) for name, column in parts.items()}
    error = float(np.std(areas, ddof=1) / np.sqrt(n_tasks)) if n_tasks > 1 else 0.0
    named, wronged = np.mean(unusual, axis=0).tolist()
    return Cell(crowd, n_tasks, float(np.mean(areas)), error, means, named, wronged)


def _area(score: Floats, copies: Ints) -> float:
    told = np.isfinite(score)
    return auroc(score[told & (copies == 1)], score[told & (copies == 0)])[0]
