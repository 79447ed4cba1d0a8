"""ROUGE-Lsum as rouge-score computes it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.base import Batch, MetricOutput, n_references
from leaderboard.metrics.engines.rouge_pass import Rouge, rouge_f1
from leaderboard.metrics.text.porter_words import stemmed_words
from leaderboard.metrics.text.union_lcs import union_hits


class RougeLsum(Rouge):
    r"""ROUGE-Lsum: F1 of longest common subsequences line by line, mean, times 100.

    Each line of a text is a sentence; where no text has more than one line, the value
    is ROUGE-L's. With several references the best one counts.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 3.2.

    Examples
    --------
    >>> texts = Batch(["a x\nb c"], [["a b c"]])
    >>> round(RougeLsum().compute(texts).overall, 4)
    85.7143
    """

    slug = "rougeLsum"
    label = "ROUGE-Lsum"

    def _measure(self, batch: Batch) -> MetricOutput:
        values = 100.0 * _f1(batch)
        signature = (
            f"type:{self.slug}|nrefs:{n_references(batch)}|multi:max-f1|f:1|split:line|"
            f"tok:rouge-score|stem:porter|agg:mean|version:{self.version}"
        )
        # in this order of operations the last bit is that of the mean of the F1s
        return MetricOutput(100.0 * float(np.mean(_f1(batch))), values, signature)


def _f1(batch: Batch) -> NDArray[np.float64]:
    return batch.shared("rougeLsum", lambda: _compute(batch))


def _compute(batch: Batch) -> NDArray[np.float64]:
    texts = zip(batch.predictions, batch.references, strict=True)
    has_lines = [
        "\n" in prediction or any("\n" in reference for reference in references)
        for prediction, references in texts
    ]
    # texts of one line each are most tasks: ROUGE-L is there already
    if not any(has_lines):
        return rouge_f1(batch)["rougeL"]
    return np.array(
        [
            _best(prediction, references)
            for prediction, references in zip(
                batch.predictions, batch.references, strict=True
            )
        ],
        dtype=np.float64,
    )


def _best(prediction: str, references: Sequence[str]) -> float:
    lines = _lines(prediction)
    return max(_score(lines, _lines(reference)) for reference in references)


def _lines(text: str) -> list[list[str]]:
    return [stemmed_words(line) for line in text.split("\n") if line]


def _score(prediction: list[list[str]], reference: list[list[str]]) -> float:
    n_predicted, n_expected = sum(map(len, prediction)), sum(map(len, reference))
    if not n_predicted or not n_expected:
        return 0.0
    hits = union_hits(reference, prediction)
    precision, recall = hits / n_predicted, hits / n_expected
    if precision + recall > 0:
        return 2 * precision * recall / (precision + recall)
    return 0.0
