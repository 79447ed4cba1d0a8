"""METEOR as NLTK computes it."""

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from leaderboard.metrics.base import (
    Batch,
    Metric,
    MetricOutput,
    n_references,
    versions,
)
from leaderboard.metrics.text import Synonyms, lacking, synonyms, wordnet_folder


class Meteor(Metric):
    """METEOR (NLTK): exact, stem and synonym matches of words, and their order.

    Mean over instances, times 100; the best reference counts. Words are what stands
    between white space, in lower case. This is NLTK's METEOR, not the METEOR 1.5 of the
    Java program, which is ten and more points away; and NLTK's own changed: until 3.6.2
    words matched by stem were matched again as synonyms, and since 3.6.5 synonyms are
    looked up by stem, so few are found. Numbers compare only with the same version. An
    exact copy of m words gets 100 - 50 / m³. English only.

    Parameters
    ----------
    alpha, beta, gamma : float, optional
        Weight of recall, shape and weight of the penalty for scattered matches.

    References
    ----------
    Banerjee and Lavie (2005), "METEOR: An Automatic Metric for MT Evaluation with
    Improved Correlation with Human Judgments", section 2.2. Lavie and Agarwal (2007),
    WMT, section 2.
    """

    slug = "meteor"
    label = "METEOR (NLTK)"
    version = versions(1, "nltk")
    higher_is_better = True
    range = (0.0, 100.0)
    cost = "heavy"
    piece = 5_000
    paper = "Banerjee and Lavie 2005"

    def __init__(
        self, *, alpha: float = 0.9, beta: float = 3.0, gamma: float = 0.5
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma

    def available(self) -> str | None:
        if find_spec("nltk") is None:
            return "The library nltk is not installed."
        folder = wordnet_folder()
        if lacking(folder):
            return (
                f"{folder} does not contain a complete WordNet; run `make "
                "setup`, install Debian's wordnet-base and wordnet-sense-index, "
                "or set GENIE_WORDNET to its folder."
            )
        return None

    def _measure(self, batch: Batch) -> MetricOutput:
        wordnet = synonyms(wordnet_folder())
        values = 100.0 * np.array(
            [
                self._score(prediction, references, wordnet)
                for prediction, references in zip(
                    batch.predictions, batch.references, strict=True
                )
            ],
            dtype=np.float64,
        )
        return MetricOutput(
            overall=float(values.mean()),
            per_instance=values,
            signature=(
                f"nrefs:{n_references(batch)}|multi:max|case:lower|tok:space|"
                f"alpha:{self.alpha}|beta:{self.beta}|gamma:{self.gamma}|stem:porter|"
                f"wordnet:{wordnet.edition}|agg:mean|version:{self.version}"
            ),
        )

    def _score(
        self, prediction: str, references: Sequence[str], wordnet: Synonyms
    ) -> float:
        from nltk.translate.meteor_score import meteor_score

        return float(
            meteor_score(
                [reference.split() for reference in references],
                prediction.split(),
                stemmer=stemmer(),
                wordnet=wordnet,
                alpha=self.alpha,
                beta=self.beta,
                gamma=self.gamma,
            )
        )


class _Stemmer:
    def __init__(self) -> None:
        from nltk.stem.porter import PorterStemmer

        # texts repeat words: each is stemmed once
        self.stem = lru_cache(maxsize=2**18)(PorterStemmer().stem)


@lru_cache(maxsize=1)
def stemmer() -> _Stemmer:
    return _Stemmer()
