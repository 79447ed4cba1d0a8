"""F1 of the words that an answer shares with its references, as SQuAD computes it."""

from __future__ import annotations

from collections import Counter

import numpy as np

from leaderboard.metrics.base import (
    Batch,
    Metric,
    MetricOutput,
    n_references,
    versions,
)
from leaderboard.metrics.text.answer_words import answer_words


class TokenF1(Metric):
    """Token F1: words shared with the best reference, mean over instances, times 100.

    Words are those of exact match: no case, no ASCII punctuation, no English articles;
    their order does not matter. If either side has no word left, the value is 100 when
    both have none and 0 otherwise, as in SQuAD 2.0's script.

    References
    ----------
    Rajpurkar, Zhang, Lopyrev, Liang (2016), "SQuAD: 100,000+ Questions for Machine
    Comprehension of Text", EMNLP, section 6.1.

    Examples
    --------
    >>> batch = Batch(["in the Rhine valley"], [["the Rhine", "the Elbe valley"]])
    >>> TokenF1().compute(batch).overall
    50.0
    """

    slug = "token-f1"
    label = "Token F1"
    version = versions(1)
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "Rajpurkar et al. 2016"

    def _measure(self, batch: Batch) -> MetricOutput:
        language = batch.target_language
        values = []
        for prediction, references in zip(
            batch.predictions, batch.references, strict=True
        ):
            words = answer_words(prediction, language)
            values.append(
                max(_f1(words, answer_words(text, language)) for text in references)
            )
        percentages = 100.0 * np.array(values, dtype=np.float64)
        return MetricOutput(
            overall=float(percentages.mean()),
            per_instance=percentages,
            signature=(
                f"nrefs:{n_references(batch)}|multi:max-f1|norm:squad|lang:{language}|"
                f"agg:mean|version:{self.version}"
            ),
        )


def _f1(prediction: list[str], reference: list[str]) -> float:
    if not prediction or not reference:
        return float(prediction == reference)
    # the intersection of multisets: a repeated word counts as often as both have it
    shared = (Counter(prediction) & Counter(reference)).total()
    return 2 * shared / (len(prediction) + len(reference))
