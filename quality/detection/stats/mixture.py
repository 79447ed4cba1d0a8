"""Fit a beta mixture to a pool of workers by maximum likelihood."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from quality.counts import Floats, as_counts, merge_counts
from quality.detection.stats.ascent import LOG_BOUND, LOGIT_BOUND, Climb, climb
from quality.detection.stats.beta_mixture import BetaMixture
from quality.detection.stats.likelihood import prepare

__all__ = ["GENIE_PSEUDO_WORKERS", "BetaMixture", "ConvergenceError", "Fit", "fit"]

#: Pseudo-workers (right, asked) of Genie's appendix B.1: they stabilize a fit while few
#: real workers have answered, and put two kinds of workers into every pool.
GENIE_PSEUDO_WORKERS: tuple[tuple[int, int], ...] = (
    *(((19, 20),) * 36),
    (1, 20),
    (1, 20),
    (5, 20),
    (10, 20),
)


class ConvergenceError(GenieError):
    code = "fit-not-converged"


@dataclass(frozen=True)
class Fit:
    """A fitted mixture with its diagnostics.

    Attributes
    ----------
    mixture : BetaMixture
        Components in order of falling mean.
    log_likelihood : float
        Of the data and the pseudo-workers, binomial coefficients included.
    n_iterations : int
        EM and Newton iterations of the longest restart.
    converged : bool
        Whether the restart with the highest likelihood reached a maximum.
    at_bound : bool
        True when a concentration or weight ran into its bound: the supremum lies at
        infinity, so use the likelihood and the posteriors, never the parameters.
    seed : int
        Seed of the starts.
    n_restarts, n_restarts_converged : int
        How many restarts there were and how many reached a maximum.
    n_workers, n_pseudo : int
        Real workers who answered at least one question, and imaginary ones.
    """

    mixture: BetaMixture
    log_likelihood: float
    n_iterations: int
    converged: bool
    at_bound: bool
    seed: int
    n_restarts: int
    n_restarts_converged: int
    n_workers: int
    n_pseudo: int


def fit(
    correct: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    k: int,
    seed: int = 0,
    n_restarts: int = 10,
    pseudo: tuple[tuple[int, int], ...] = GENIE_PSEUDO_WORKERS,
    max_iterations: int = 1_000,
    require_convergence: bool = True,
) -> Fit:
    """Fit a beta mixture to the counts by maximum likelihood.

    Parameters
    ----------
    correct, n : array_like of int, shape (n_workers,)
        Right answers and answered questions of each worker, 0 <= correct <= n. There
        may be no worker at all, as long as there are pseudo-workers.
    k : int
        Number of components, >= 1.
    seed : int, default 0
        Seed of the random starts; the same seed gives the same bytes.
    pseudo : tuple of (int, int), default GENIE_PSEUDO_WORKERS
        (right, asked) of imaginary workers added to the data.
    max_iterations : int, default 1000
        EM and Newton iterations together.

    Raises
    ------
    ConvergenceError
        If the best restart did not reach a maximum in `max_iterations`.

    References
    ----------
    D. Khashabi et al., "Genie" (EMNLP 2022), appendix B.1: pseudo-workers, starts (equal
    weights, uniform means, concentrations from a gamma distribution of shape 2), 10
    restarts, 1,000 iterations. A. Dempster, N. Laird and D. Rubin, JRSS B 39 (1977).
    """
    x, m = as_counts(correct, n)
    x, m = np.atleast_1d(x), np.atleast_1d(m)
    px, pm = as_counts([p[0] for p in pseudo], [p[1] for p in pseudo])
    all_x, all_m = np.concatenate([x, px]), np.concatenate([m, pm])
    if not all_m.any():
        raise ValueError(
            "No test question has been answered, so there is nothing to fit."
        )
    # Workers without answers do not inform the prior.
    counts = merge_counts(all_x[all_m > 0], all_m[all_m > 0])
    end = climb(
        prepare(counts),
        _starts(np.random.default_rng(seed), n_restarts, k),
        max_iterations=max_iterations,
    )
    best = int(np.argmax(end.value))
    if require_convergence and not end.converged[best]:
        raise ConvergenceError(
            f"None of {n_restarts} restarts reached a maximum of the likelihood "
            f"in {max_iterations} iterations; allow more of them.",
            details={"k": k, "n_workers": len(x), "max_iterations": max_iterations},
        )
    return _as_fit(end, best, seed, int((m > 0).sum()), len(pseudo))


def _starts(rng: np.random.Generator, n_restarts: int, k: int) -> Floats:
    from scipy import special

    # A mean of exactly 0 or 1 has no logit.
    means = np.clip(rng.random((n_restarts, k)), 1e-3, 1 - 1e-3)
    concentrations = rng.gamma(2.0, size=(n_restarts, k))
    return np.stack(
        [special.logit(means), np.log(concentrations), np.zeros((n_restarts, k))],
        axis=1,
    )


def _as_fit(end: Climb, best: int, seed: int, n_workers: int, n_pseudo: int) -> Fit:
    from scipy import special

    logit_means, log_sizes, logits = end.theta[best]
    weights = special.softmax(logits)
    # Components in a different order are the same mixture; this order makes the bytes
    # equal, too.
    order = np.lexsort((-weights, -logit_means))
    sizes, means = np.exp(log_sizes[order]), logit_means[order]
    walls = LOG_BOUND - 1e-3, LOGIT_BOUND - 1e-3
    at_bound = np.abs(log_sizes).max() > walls[0] or np.abs(means).max() > walls[1]
    # The parameters of a component without weight are arbitrary.
    dead = len(weights) > 1 and weights.min() < 1e-9
    return Fit(
        mixture=BetaMixture(
            tuple(weights[order] / weights.sum()),
            tuple(sizes * special.expit(means)),
            tuple(sizes * special.expit(-means)),
        ),
        log_likelihood=float(end.value[best]),
        n_iterations=end.n_iterations,
        converged=bool(end.converged[best]),
        at_bound=bool(at_bound or dead),
        seed=seed,
        n_restarts=len(end.value),
        n_restarts_converged=int(end.converged.sum()),
        n_workers=n_workers,
        n_pseudo=n_pseudo,
    )
