"""Texts at the wrong instances."""

import numpy as np

from genie.lib.seeds import generator
from leaderboard.submissions.preflight.base import (
    Check,
    PreflightWarning,
    Texts,
    percent,
)
from leaderboard.submissions.preflight.similarity import Fit, fit_of, vectors_of

_SAMPLE = 1_000


class MisalignedIds(Check):
    """Ids in a different order from texts: the scores are then noise.

    Each prediction is compared, by character n-grams, with its references and with
    those of all other instances. It fires if a tenth of the predictions clearly and
    mutually match another instance. Predictions of a bad system match none, and short
    ones such as "yes" match many; neither fires.
    """

    slug = "misaligned-ids"

    def look(self, texts: Texts) -> PreflightWarning | None:
        """Compare at most 1,000 predictions with all references."""
        fit = alignment(texts.predictions, texts.references, texts.seed)
        if fit is None or not fit.misaligned:
            return None
        return PreflightWarning(
            self.slug,
            f"{percent(fit.share_elsewhere)} of the predictions clearly match "
            "the references of another instance, and only "
            f"{percent(fit.share_own)} their own: ids and predictions seem to be "
            "misaligned. Download the re-aligned file, check it and submit it.",
            {
                "own_similarity": round(fit.own, 4),
                "other_similarity": round(fit.others, 4),
                "best_similarity": round(fit.best, 4),
                "share_own": round(fit.share_own, 4),
                "share_elsewhere": round(fit.share_elsewhere, 4),
                "n_compared": fit.n,
            },
        )


def alignment(
    predictions: list[str], references: list[list[str]], seed: int
) -> Fit | None:
    """Compute how predictions fit their instances.

    Parameters
    ----------
    predictions : list of str, shape (n,)
    references : list of list of str, shape (n, variable)
    seed : int
        Of the sample of 1,000 if there are more.

    Returns
    -------
    Fit or None
        None if there are no references.
    """
    n = len(predictions)
    if n < 2 or not any(references):
        return None
    rows = np.arange(n)
    if n > 2 * _SAMPLE:
        # a sample detects a shuffled file as reliably, and the time stays the same for
        # large tasks
        rows = np.sort(generator(seed).choice(n, _SAMPLE, replace=False))
    return fit_of(*vectors_of(predictions, references), rows)
