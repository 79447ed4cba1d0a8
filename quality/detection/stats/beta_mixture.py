"""Beta mixtures as priors of workers' rates of right answers."""

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from quality.counts import Floats, Ints, as_counts


@dataclass(frozen=True)
class BetaMixture:
    """A mixture of beta distributions over a worker's rate of right answers.

    Attributes
    ----------
    weights : tuple of float
        Share of each component; positive or 0, sums to 1.
    alphas, betas : tuple of float
        Parameters of the components, > 0.

    References
    ----------
    D. Khashabi et al., "Genie" (EMNLP 2022), section 5. P. Diaconis and D. Ylvisaker,
    "Conjugate priors for exponential families", Ann. Statist. 7 (1979): a mixture of
    conjugate priors has a closed-form posterior.

    Examples
    --------
    >>> prior = BetaMixture((0.05, 0.95), (0.5, 9.5), (4.5, 0.5))
    >>> prior.posterior_class([0, 1], [1, 1]).round(4).tolist()
    [[0.4865, 0.5135], [0.0055, 0.9945]]
    """

    weights: tuple[float, ...]
    alphas: tuple[float, ...]
    betas: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("weights", "alphas", "betas"):
            object.__setattr__(self, name, tuple(map(float, getattr(self, name))))

    @property
    def n_components(self) -> int:
        return len(self.weights)

    @property
    def means(self) -> tuple[float, ...]:
        """The expected rate of right answers of each component, 0 to 1."""
        return tuple(a / (a + b) for a, b in zip(self.alphas, self.betas, strict=True))

    @property
    def regular_class(self) -> int:
        """The index of the component with the highest mean (ties: the heavier one)."""
        return max(
            range(self.n_components), key=lambda i: (self.means[i], self.weights[i])
        )

    def posterior_class(self, correct: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
        """Compute the probability of each component given a worker's counts.

        Returns
        -------
        ndarray of float64, shape (..., n_components)
            Rows sum to 1; with no questions answered they are the weights.
        """
        from scipy import special

        x, m = as_counts(correct, n)
        return special.softmax(self._log_joint(x, m), axis=-1)

    def posterior_tails(
        self, correct: npt.ArrayLike, n: npt.ArrayLike, threshold: float
    ) -> tuple[Floats, Floats]:
        """Compute the probability below and above a rate, both precise when tiny.

        Returns
        -------
        tuple of ndarray of float64, shape of the counts
            They sum to 1 up to rounding.

        Examples
        --------
        >>> below, above = BetaMixture((1,), (1,), (1,)).posterior_tails(0, 40, 0.9)
        >>> float(below), f"{above:.0e}"
        (1.0, '1e-41')
        """
        from scipy import special

        x, m = as_counts(correct, n)
        shares = special.softmax(self._log_joint(x, m), axis=-1)
        a = np.asarray(self.alphas) + x[..., None]
        b = np.asarray(self.betas) + (m - x)[..., None]
        below = (shares * special.betainc(a, b, threshold)).sum(axis=-1)
        above = (shares * special.betaincc(a, b, threshold)).sum(axis=-1)
        return below, above

    def _log_joint(self, x: Ints, m: Ints) -> Floats:
        from scipy import special

        a, b = np.asarray(self.alphas), np.asarray(self.betas)
        with np.errstate(divide="ignore"):
            log_weights = np.log(np.asarray(self.weights))
        joint: Floats = (
            log_weights
            + special.betaln(a + x[..., None], b + (m - x)[..., None])
            - special.betaln(a, b)
        )
        return joint

    def to_dict(self) -> dict[str, list[float]]:
        """Return a JSON-serializable form."""
        return {name: list(values) for name, values in asdict(self).items()}
