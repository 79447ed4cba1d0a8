"""One pass over the texts for all ROUGE metrics.

The numbers are rouge-score's to the last bit (the tests compare), but words are
stemmed once, n-grams are counted once, and the longest common subsequence is a
library's bit-parallel one instead of a table in Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.base import Batch, Metric, MetricOutput, n_references, versions
from leaderboard.metrics.text.porter_words import stemmed_words

TYPES = ("rouge1", "rouge2", "rougeL")
T = TypeVar("T")

VERSION = versions(1, "rouge-score", "nltk", "rapidfuzz")


@dataclass(frozen=True)
class _Text:
    words: list[str]
    pairs: Counter[tuple[str, str]]
    singles: Counter[str]


def rouge_f1(batch: Batch) -> dict[str, NDArray[np.float64]]:
    """Compute ROUGE-1, ROUGE-2 and ROUGE-L F1 of every instance.

    Parameters
    ----------
    batch : Batch
        With at least one reference an instance.

    Returns
    -------
    dict of ndarray, each of shape (n,)
        By type (``rouge1``, ``rouge2``, ``rougeL``), in 0 to 1: the best F1 over the
        references, as rouge-score's ``score_multi``.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", sections 2
    and 3.1; equations 1 and 4 with beta 1, on stems.

    Examples
    --------
    >>> scores = rouge_f1(Batch(["cats sit"], [["a cat sits", "dogs"]]))
    >>> {name: round(float(values[0]), 3) for name, values in scores.items()}
    {'rouge1': 0.8, 'rouge2': 0.667, 'rougeL': 0.8}
    """
    return batch.shared("rouge", lambda: _compute(batch))


class Rouge(Metric):
    """What the ROUGE types have in common; each has a file with its name and words.

    A subclass's slug is one of `TYPES`.
    """

    version = VERSION
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "Lin 2004"

    def _measure(self, batch: Batch) -> MetricOutput:
        values = rouge_f1(batch)[self.slug]
        signature = (
            f"type:{self.slug}|nrefs:{n_references(batch)}|multi:max-f1|f:1|"
            f"tok:rouge-score|stem:porter|agg:mean|version:{self.version}"
        )
        return MetricOutput(100.0 * float(np.mean(values)), 100.0 * values, signature)


def _compute(batch: Batch) -> dict[str, NDArray[np.float64]]:
    rows = [
        _best(_text(prediction), [_text(reference) for reference in references])
        for prediction, references in zip(
            batch.predictions, batch.references, strict=True
        )
    ]
    table = np.array(rows, dtype=np.float64)
    return {kind: table[:, column] for column, kind in enumerate(TYPES)}


def _text(text: str) -> _Text:
    words = stemmed_words(text)
    return _Text(words, Counter(pairwise(words)), Counter(words))


def _best(prediction: _Text, references: Sequence[_Text]) -> tuple[float, float, float]:
    scores = [_scores(prediction, reference) for reference in references]
    return cast(
        "tuple[float, float, float]",
        # the best reference of each type by itself, as score_multi takes it
        tuple(max(column) for column in zip(*scores, strict=True)),
    )


def _scores(prediction: _Text, reference: _Text) -> tuple[float, float, float]:
    n_predicted, n_expected = len(prediction.words), len(reference.words)
    return (
        _f1(_overlap(prediction.singles, reference.singles), n_predicted, n_expected),
        _f1(
            _overlap(prediction.pairs, reference.pairs), n_predicted - 1, n_expected - 1
        ),
        _f1(_subsequence(prediction.words, reference.words), n_predicted, n_expected),
    )


def _overlap(left: Counter[T], right: Counter[T]) -> int:
    if len(left) > len(right):
        left, right = right, left
    return sum(min(count, right[gram]) for gram, count in left.items() if gram in right)


def _subsequence(left: list[str], right: list[str]) -> int:
    from rapidfuzz.distance import LCSseq

    return int(LCSseq.similarity(left, right))


def _f1(matched: int, n_predicted: int, n_expected: int) -> float:
    # in rouge-score's order of operations, so that the last bit is the same too
    precision = matched / max(n_predicted, 1)
    recall = matched / max(n_expected, 1)
    if precision + recall > 0:
        return 2 * precision * recall / (precision + recall)
    return 0.0
