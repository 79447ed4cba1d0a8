"""The counts behind sacrebleu's scores, one row per instance.

sacrebleu's public functions return either the corpus score or one sentence's score, so
computing both would process every text twice. The counts that it sums (and resamples in
its significance tests) give both in one pass; tests compare the results with the public
functions'.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.base import Batch

# sacrebleu keeps the n-grams of all its references: gigabytes for a large task
_AT_ONCE = 250


def reference_streams(
    references: Sequence[Sequence[str]],
) -> list[tuple[str | None, ...]]:
    """Transpose references by instance into sacrebleu's streams by reference number.

    Parameters
    ----------
    references : sequence of sequences of str, shape (n, variable)

    Returns
    -------
    list of tuples, shape (largest number of references, n)
        None if an instance has fewer references than others.

    Examples
    --------
    >>> reference_streams([["a", "b"], ["c"]])
    [('a', 'c'), ('b', None)]
    """
    return list(zip_longest(*references))


def statistics(metric: Any, batch: Batch) -> NDArray[np.int64]:
    """Count n-grams with a sacrebleu metric, BLEU or chrF.

    Afterwards its signature includes the number of references.

    Returns
    -------
    ndarray of int64, shape (n, k)
        The metric's k counts per instance; their sum gives the corpus score.

    Examples
    --------
    >>> from sacrebleu.metrics.bleu import BLEU
    >>> statistics(BLEU(), Batch(["a b"], [["a c"]])).tolist()
    [[2, 2, 1, 0, 0, 0, 2, 1, 0, 0]]
    """
    rows: list[list[int]] = []
    for start in range(0, len(batch), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        rows += metric._extract_corpus_statistics(
            list(batch.predictions[part]), reference_streams(batch.references[part])
        )
    # as sacrebleu in one pass: -1 stands for varying numbers
    counts = {len(references) for references in batch.references}
    metric.num_refs = counts.pop() if len(counts) == 1 else -1
    return np.array(rows, dtype=np.int64)
