"""How much of a prediction is not copied from its source."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.base import Batch, Metric, MetricOutput, versions
from leaderboard.metrics.text.plain_words import n_grams, plain_words

_ORDERS = (1, 2, 3, 4)


class Novelty(Metric):
    """Novelty: share of a prediction's word bigrams that do not occur in its source.

    In percent; mean over the instances whose prediction has a run of that many words
    (others count 0 per instance and are left out of the mean). 0 is a copy. A wrong
    text is novel too: read it beside a measure of quality.

    Parameters
    ----------
    order : int, optional
        Words in a run, 1 to 4; the details give all four.

    References
    ----------
    See, Liu, Manning (2017), "Get To The Point", ACL, figure 6. Narayan, Cohen, Lapata
    (2018), "Don't Give Me the Details, Just the Summary!", EMNLP, table 1.

    Examples
    --------
    >>> texts = Batch(["The cat sat there."], [[]], ["A cat, the cat sat on a mat."])
    >>> output = Novelty().compute(texts)
    >>> round(output.overall, 2), output.details["by_order"]
    (33.33, [25.0, 33.3333, 50.0, 100.0])
    """

    slug = "novelty"
    label = "Novelty"
    version = versions(1)
    higher_is_better = None
    range = (0.0, 100.0)
    needs_references = False
    needs_sources = True
    paper = "See et al. 2017; Narayan et al. 2018"

    def __init__(self, *, order: int = 2) -> None:
        if order not in _ORDERS:
            raise ValueError(f"Novelty counts n-grams of 1 to 4 words, not {order}.")
        self.order = order

    def _measure(self, batch: Batch) -> MetricOutput:
        table = np.array(
            [
                _novel(
                    plain_words(prediction, batch.target_language),
                    plain_words(source, batch.source_language),
                )
                for prediction, source in zip(
                    batch.predictions, batch.sources, strict=True
                )
            ],
            dtype=np.float64,
        )
        by_order = [_mean(table[:, column]) for column in range(len(_ORDERS))]
        values = table[:, self.order - 1]
        return MetricOutput(
            overall=by_order[self.order - 1],
            per_instance=np.nan_to_num(values, nan=0.0),
            signature=(
                f"order:{self.order}|case:folded|punct:stripped|"
                f"lang:{batch.target_language}|agg:mean|version:{self.version}"
            ),
            details={
                "by_order": [round(value, 4) for value in by_order],
                "n_too_short": int(np.isnan(values).sum()),
            },
        )


def _novel(prediction: list[str], source: list[str]) -> list[float]:
    shares = []
    for order in _ORDERS:
        # a set: how often the source says it does not matter
        known = set(n_grams(source, order))
        runs = list(n_grams(prediction, order))
        n_novel = sum(run not in known for run in runs)
        shares.append(100.0 * n_novel / len(runs) if runs else np.nan)
    return shares


def _mean(values: NDArray[np.float64]) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else 0.0
