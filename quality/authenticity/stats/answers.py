"""Answers beside the estimated quality of their texts."""

from dataclasses import dataclass, field

import numpy as np

from quality.counts import Floats, Ints

#: Variance of one answer around its text, in variances between texts. It shrinks the
#: mean of the others' answers. Two of three ICC(1) around .35 are .5.
NOISE = 2.0


@dataclass(frozen=True)
class Answers:
    """Ratings of one crowd: the rater of each text, and a judge's score of it.

    Codes count from 0. A text is one output for one instance; answers about several
    criteria or slots count as separate texts. The judge is NaN if it has no score.
    """

    worker: Ints
    text: Ints
    instance: Ints
    system: Ints
    value: Floats
    judge: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def n_workers(self) -> int:
        return int(self.worker.max()) + 1 if self.worker.size else 0

    @property
    def judged(self) -> Floats:
        """Return the judge's score of each answer's text; NaN if there is none."""
        return self.judge if self.judge.size else np.full(self.value.size, np.nan)


def centred(answers: Answers) -> Floats:
    """Return each answer less its worker's mean, so that strictness does not count.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.array([0, 0, 1, 1])
    >>> codes = np.array([0, 1, 0, 1])
    >>> some = Answers(two, codes, codes, 0 * codes, np.array([0.2, 0.4, 0.6, 1.0]))
    >>> centred(some).round(2).tolist()
    [-0.1, 0.1, -0.2, 0.2]
    """
    n = np.bincount(answers.worker, minlength=answers.n_workers)
    total = np.bincount(answers.worker, answers.value, minlength=answers.n_workers)
    return np.asarray(answers.value - (total / np.maximum(n, 1))[answers.worker])


def deserved(
    answers: Answers, weight: Floats | None = None, noise: float = NOISE
) -> Floats:
    """Estimate the quality of each answer's text from the answers of all others.

    The effect of the system, of the instance within the remainder, and of the text
    within both, each shrunk towards 0 if few answered: a sum of n is divided by n +
    `noise`. The worker's own answers to the instance and the text never count; those to
    the system's other instances do, with a negligible weight.

    Parameters
    ----------
    weight : array, optional
        Weight of each worker, such as the probability of being a person.

    Examples
    --------
    >>> import numpy as np
    >>> who, text = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])
    >>> value = np.array([1, 0, 1, 0, 0.6, 0.4])
    >>> deserved(Answers(who, text, text, 0 * text, value)).round(2).tolist()
    [0.23, -0.23, 0.23, -0.23, 0.38, -0.38]
    """
    value, who = centred(answers), answers.worker
    counted = np.ones(value.size) if weight is None else weight[who]
    of_all = np.bincount(answers.system, counted * value)
    n_of_all = np.bincount(answers.system, counted)
    rest = value - (of_all / (n_of_all + noise))[answers.system]
    total, n = _others(answers.system, who, value, counted)
    system = total / (n + noise)
    total, n = _others(answers.instance, who, rest, counted)
    instance = total / (n + noise)
    # All answers about one text are about one instance, so there is no other effect.
    total, n = _others(answers.text, who, rest, counted)
    return np.asarray(system + instance + (total - n * instance) / (n + noise))


def _others(
    codes: Ints, worker: Ints, value: Floats, counted: Floats
) -> tuple[Floats, Floats]:
    n_workers = int(worker.max()) + 1 if worker.size else 1
    _, own = np.unique(codes * n_workers + worker, return_inverse=True)
    total = np.bincount(codes, counted * value)[codes]
    n = np.bincount(codes, counted)[codes]
    total = total - np.bincount(own, counted * value)[own]
    n = n - np.bincount(own, counted)[own]
    return np.asarray(total), np.asarray(np.maximum(n, 0))
