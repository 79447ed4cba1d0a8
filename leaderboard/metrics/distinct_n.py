"""How varied predictions are: distinct words and pairs of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from leaderboard.metrics.base import Batch, Metric, MetricOutput, versions
from leaderboard.metrics.text.plain_words import n_grams, plain_words


class _Distinct(Metric):
    version = versions(1)
    higher_is_better = None
    range = (0.0, 100.0)
    needs_references = False
    paper = "Li et al. 2016"
    order: ClassVar[int]

    def _measure(self, batch: Batch) -> MetricOutput:
        texts = batch.shared(
            "plain-words",
            lambda: [plain_words(t, batch.target_language) for t in batch.predictions],
        )
        n_words = sum(map(len, texts))
        # over all predictions at once: a stock phrase in every text counts once
        n_distinct = len(set().union(*(n_grams(words, self.order) for words in texts)))
        return MetricOutput(
            overall=_share(n_distinct, n_words),
            per_instance=np.array(
                [_distinct(words, self.order) for words in texts], dtype=np.float64
            ),
            signature=(
                f"order:{self.order}|per:word|case:folded|punct:stripped|"
                f"lang:{batch.target_language}|version:{self.version}"
            ),
            details={"n_distinct": n_distinct, "n_words": n_words},
        )


class Distinct1(_Distinct):
    """Distinct-1: distinct words in all predictions, per 100 words.

    Per instance it is the same within one text. It falls as more is written, whoever
    writes: compare systems on the same instances only. Low values show a system that
    repeats itself; high ones do not make a text good.

    References
    ----------
    Li, Galley, Brockett, Gao, Dolan (2016), "A Diversity-Promoting Objective Function
    for Neural Conversation Models", NAACL, section 5.3.

    Examples
    --------
    >>> output = Distinct1().compute(Batch(["I know.", "I know it"], [[], []]))
    >>> output.overall, output.per_instance.tolist()
    (60.0, [100.0, 100.0])
    """

    slug = "distinct-1"
    label = "Distinct-1"
    order = 1


class Distinct2(_Distinct):
    """Distinct-2: distinct word bigrams in all predictions, per 100 words.

    As Li et al. have it, the count is divided by the number of words, not of pairs, so
    100 is out of reach. See Distinct-1 for what it can and cannot say.

    References
    ----------
    Li, Galley, Brockett, Gao, Dolan (2016), "A Diversity-Promoting Objective Function
    for Neural Conversation Models", NAACL, section 5.3.

    Examples
    --------
    >>> Distinct2().compute(Batch(["I know.", "I know it"], [[], []])).overall
    40.0
    """

    slug = "distinct-2"
    label = "Distinct-2"
    order = 2


def _distinct(words: Sequence[str], order: int) -> float:
    return _share(len(set(n_grams(words, order))), len(words))


def _share(part: int, total: int) -> float:
    return 100.0 * part / total if total else 0.0
