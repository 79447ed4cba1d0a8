"""How much shorter than its source a prediction is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.base import Batch, Metric, MetricOutput, versions
from leaderboard.metrics.text.plain_words import plain_words


class Compression(Metric):
    """Compression: source words per word of the prediction.

    Overall is the ratio of the sums, per instance that instance's ratio (the mean of
    which, Grusky et al.'s figure, is in the details). 1 means as long as the source. An
    empty prediction compresses nothing and counts 0.

    References
    ----------
    Grusky, Naaman, Artzi (2018), "Newsroom: A Dataset of 1.3 Million Summaries with
    Diverse Extractive Strategies", NAACL, section 4.3.

    Examples
    --------
    >>> texts = Batch(["a cat", "dogs"], [[], []], ["It is a cat", "Dogs bark."])
    >>> output = Compression().compute(texts)
    >>> output.overall, output.per_instance.tolist()
    (2.0, [2.0, 2.0])
    """

    slug = "compression"
    label = "Compression"
    version = versions(1)
    higher_is_better = None
    range = (0.0, None)
    needs_references = False
    needs_sources = True
    paper = "Grusky et al. 2018"

    def _measure(self, batch: Batch) -> MetricOutput:
        sources = _counts(batch.sources, batch.source_language)
        predictions = _counts(batch.predictions, batch.target_language)
        ratios = np.divide(
            # where nothing was written the ratio has no meaning; 0 keeps the instance
            # in the table
            sources,
            predictions,
            out=np.zeros(len(batch)),
            where=predictions > 0,
        )
        total = predictions.sum()
        return MetricOutput(
            overall=float(sources.sum() / total) if total else 0.0,
            per_instance=ratios,
            signature=(
                f"punct:stripped|lang:{batch.target_language}|agg:ratio-of-sums|"
                f"version:{self.version}"
            ),
            details={
                "mean_of_ratios": float(ratios.mean()),
                "n_empty": int(np.count_nonzero(predictions == 0)),
            },
        )


def _counts(texts: Sequence[str], language: str) -> NDArray[np.float64]:
    return np.array([len(plain_words(text, language)) for text in texts], np.float64)
