"""ROUGE: rouge-score's F1 on Porter stems."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.base import Batch, Metric, MetricOutput, n_references, versions


class _Rouge(Metric):
    version = versions(1, "rouge-score", "nltk")
    higher_is_better = True
    range = (0.0, 100.0)
    paper = "Lin 2004"
    # computed together: stemming, which they share, takes most of the time
    kinds: ClassVar[tuple[str, ...]] = ("rouge1", "rouge2", "rougeL")
    split: ClassVar[str] = ""

    def _measure(self, batch: Batch) -> MetricOutput:
        scores = batch.share_result(
            "+".join(self.kinds), lambda: _f1(batch, self.kinds)
        )
        values = scores[self.slug]
        signature = (
            f"type:{self.slug}|nrefs:{n_references(batch)}|multi:max-f1|f:1|{self.split}"
            f"tok:rouge-score|stem:porter|agg:mean|version:{self.version}"
        )
        return MetricOutput(100.0 * float(np.mean(values)), 100.0 * values, signature)


class Rouge1(_Rouge):
    """ROUGE-1: F1 of shared stems, mean over instances, times 100.

    With several references the best one counts.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 2.

    Examples
    --------
    >>> Rouge1().compute(Batch(["a cat"], [["a dog"]])).overall
    50.0
    """

    slug = "rouge1"
    label = "ROUGE-1"


class Rouge2(_Rouge):
    """ROUGE-2: F1 of shared pairs of neighboring stems, mean over instances, times 100.

    With several references the best one counts.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 2.

    Examples
    --------
    >>> Rouge2().compute(Batch(["a big cat"], [["a big dog"]])).overall
    50.0
    """

    slug = "rouge2"
    label = "ROUGE-2"


class RougeL(_Rouge):
    """ROUGE-L: F1 of the longest common subsequence of stems, mean, times 100.

    With several references the best one counts.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 3.1.

    Examples
    --------
    >>> RougeL().compute(Batch(["a b c d"], [["a x c d"]])).overall
    75.0
    """

    slug = "rougeL"
    label = "ROUGE-L"


class RougeLsum(_Rouge):
    r"""ROUGE-Lsum: F1 of longest common subsequences line by line, mean, times 100.

    Each line of a text is a sentence. With several references the best one counts.

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
    kinds = ("rougeLsum",)
    split = "split:line|"


def _f1(batch: Batch, kinds: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(kinds, use_stemmer=True)
    rows = [
        scorer.score_multi(references, prediction)
        for prediction, references in zip(
            batch.predictions, batch.references, strict=True
        )
    ]
    return {kind: np.array([row[kind].fmeasure for row in rows]) for kind in kinds}
