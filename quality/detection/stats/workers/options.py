"""Prior assumptions about workers."""

from dataclasses import dataclass

CLASSES = ("honest", "turning", "constant", "random", "inverted", "narrow")
CARELESS = ("constant", "random", "inverted")
#: Accuracy on negative and positive questions: at random, always bad, always good.
NO_YES = ((0.5, 1.0, 0.0), (0.5, 0.0, 1.0))


@dataclass(frozen=True)
class AssessOptions:
    """Presumptions of :func:`quality.detection.stats.assess.assess_workers`.

    Attributes
    ----------
    share_careless : float, default 0.15
        Expected share of each pool that is careless, worth `strength` workers.
    innocence : float, default 0.3
        Upper limit of the prior probability of being careless, however bad the
        pool; a worker with no answers is never above it.
    accuracy, accuracy_sd : float, default 0.85, 1.0
        Expected agreement of careful people with the key, and its spread between kinds
        of questions in logits.
    question_sd, worker_sd : float, default 1.0, 0.5
        Spread, in logits, of questions of a kind and of careful workers.
    guesses : tuple of tuple of float, optional
        For each kind of question, the probability of a right answer without reading: at
        random, then by each habit (always good, always bad, always the first output).
        Without it all are 1/2.
    least, at_first : float, default 3.0, 0.9
        With fewer than `least` test questions, or five times as many ratings, the
        probability of being careless is at most `at_first`.
    tolerance : float, default 1e-3
        The fit ends when no probability changes by more.
    """

    share_careless: float = 0.15
    strength: float = 10.0
    innocence: float = 0.3
    accuracy: float = 0.85
    accuracy_sd: float = 1.0
    question_sd: float = 1.0
    worker_sd: float = 0.5
    guesses: tuple[tuple[float, ...], ...] = ()
    least: float = 3.0
    at_first: float = 0.9
    n_iterations: int = 12
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("share_careless", "innocence", "accuracy", "at_first"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must lie between 0 and 1.")
        for name in ("strength", "accuracy_sd", "question_sd", "worker_sd"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive.")
        if self.n_iterations < 1:
            raise ValueError("Iterate at least once.")
