"""Translation edit rate as sacrebleu computes it."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.base import (
    Batch,
    Metric,
    MetricOutput,
    n_references,
    versions,
)


class Ter(Metric):
    """TER: edits needed to turn a prediction into its reference, per 100 reference words.

    An edit inserts, deletes or replaces a word, or moves a run of words. Overall is
    ``sacrebleu.corpus_ter``: all edits over the sum of the references' mean lengths.
    Lower is better, and a long prediction can exceed 100. With several references the
    nearest one counts. Its search for moves takes seconds per thousand long texts.

    Parameters
    ----------
    lowercase : bool, optional
        Compare without case, as tercom and sacrebleu do by default.
    normalized : bool, optional
        Split punctuation from words first (tercom's ``-N``).

    References
    ----------
    Snover, Dorr, Schwartz, Micciulla, Makhoul (2006), "A Study of Translation Edit Rate
    with Targeted Human Annotation", AMTA, section 3, equation 1.

    Examples
    --------
    >>> output = Ter().compute(Batch(["b a c", "d"], [["a c b"], ["d"]]))
    >>> output.overall, output.per_instance.round(2).tolist()
    (25.0, [33.33, 0.0])
    """

    slug = "ter"
    label = "TER"
    version = versions(1, "sacrebleu")
    higher_is_better = False
    range = (0.0, None)
    cost = "heavy"
    piece = 1_000
    summed = ("edits", "reference_words")
    paper = "Snover et al. 2006"

    def __init__(self, *, lowercase: bool = True, normalized: bool = False) -> None:
        self.lowercase = lowercase
        self.normalized = normalized

    def _measure(self, batch: Batch) -> MetricOutput:
        from sacrebleu.metrics.ter import TER

        from leaderboard.metrics.engines.sacrebleu_statistics import reference_streams

        asian = batch.target_language in {"zh", "ja", "ko"}
        ter = TER(
            case_sensitive=not self.lowercase,
            # tercom splits Chinese and Japanese into characters only when it normalizes
            normalized=self.normalized or asian,
            asian_support=asian,
        )
        # may be a fraction: the length is a mean over references
        counts = np.array(
            ter._extract_corpus_statistics(
                list(batch.predictions), reference_streams(batch.references)
            ),
            dtype=np.float64,
        )
        overall = ter._compute_score_from_stats(counts.sum(axis=0).tolist())
        values = [ter._compute_score_from_stats(row).score for row in counts.tolist()]
        return MetricOutput(
            overall=float(overall.score),
            per_instance=np.array(values, dtype=np.float64),
            signature=_of_whole(str(ter.get_signature()), n_references(batch)),
            details={
                "edits": float(counts[:, 0].sum()),
                "reference_words": float(counts[:, 1].sum()),
            },
        )

    def _overall(
        self, per_instance: NDArray[np.float64], details: dict[str, Any]
    ) -> float:
        from sacrebleu.metrics.ter import TER

        # the pieces' ratios do not determine the ratio of sums: keep both sums
        counts = [details["edits"], details["reference_words"]]
        return float(TER()._compute_score_from_stats(counts).score)


def _of_whole(signature: str, n_each: str) -> str:
    return re.sub(r"^nrefs:[^|]*", f"nrefs:{n_each}", signature)
