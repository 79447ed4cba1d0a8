"""Exact match of answers, as SQuAD counts it."""

from __future__ import annotations

import numpy as np

from leaderboard.metrics.base import (
    Batch,
    Metric,
    MetricOutput,
    n_references,
    versions,
)
from leaderboard.metrics.text.answer_words import answer_words


class ExactMatch(Metric):
    """Exact match: share of predictions equal to one of their references, in percent.

    Equal means: the same words once case, ASCII punctuation and English articles are
    left out. With several references any one of them will do.

    References
    ----------
    Rajpurkar, Zhang, Lopyrev, Liang (2016), "SQuAD: 100,000+ Questions for Machine
    Comprehension of Text", EMNLP, section 6.1.

    Examples
    --------
    >>> batch = Batch(["The Rhine.", "Elbe"], [["rhine"], ["Oder", "Neisse"]])
    >>> ExactMatch().compute(batch).per_instance.tolist()
    [100.0, 0.0]
    """

    slug = "exact-match"
    label = "Exact match"
    version = versions(1)
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "Rajpurkar et al. 2016"

    def _measure(self, batch: Batch) -> MetricOutput:
        language = batch.target_language
        values = np.array(
            [
                100.0
                * any(
                    answer_words(prediction, language)
                    == answer_words(reference, language)
                    for reference in references
                )
                for prediction, references in zip(
                    batch.predictions, batch.references, strict=True
                )
            ]
        )
        return MetricOutput(
            overall=float(values.mean()),
            per_instance=values,
            signature=(
                f"nrefs:{n_references(batch)}|multi:any|norm:squad|lang:{language}|"
                f"agg:mean|version:{self.version}"
            ),
            details={"n_matches": int(np.count_nonzero(values))},
        )
