"""Length of predictions, alone and relative to their references."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.base import Batch, Metric, MetricOutput, n_references, versions

# Languages written without spaces between words: length is counted in characters.
_UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})


class Length(Metric):
    """Length ratio: words in the predictions divided by words in the references.

    Overall is the ratio of the sums, per instance the ratio of that instance, where
    several references count by their mean. 1 means as long as people write. An instance
    whose references have no words has ratio 1 if its prediction has none either, else
    its number of words. Words are separated by white space; for languages
    written without it, only characters that are not white space are counted.

    References
    ----------
    sacrebleu prints the same ratio beside BLEU, there after its tokenizer.
    """

    slug = "length"
    label = "Length ratio"
    version = versions(1)
    higher_is_better = None
    range = (0.0, None)
    paper = "Post 2018"

    def _measure(self, batch: Batch) -> MetricOutput:
        unspaced = batch.target_language in _UNSPACED
        count = _characters if unspaced else _words
        predicted = _count(batch.predictions, count)
        expected = np.array(
            [np.mean(_count(references, count)) for references in batch.references]
        )
        words = _count(batch.predictions, _words)
        characters = _count(batch.predictions, len)
        unit = "character" if unspaced else "word"
        return MetricOutput(
            overall=float(_ratio(predicted.sum(), expected.sum())),
            per_instance=np.asarray(_ratio(predicted, expected), dtype=np.float64),
            signature=(
                f"nrefs:{n_references(batch)}|unit:{unit}|multi:mean|agg:ratio-of-sums|"
                f"version:{self.version}"
            ),
            details={
                "unit": unit,
                "mean_words": float(words.mean()),
                "median_words": float(np.median(words)),
                "mean_characters": float(characters.mean()),
                "mean_reference_length": float(expected.mean()),
                "n_empty": int(sum(not text.strip() for text in batch.predictions)),
            },
        )


def _count(texts: Iterable[str], count: Callable[[str], int]) -> NDArray[np.float64]:
    return np.array([count(text) for text in texts], dtype=np.float64)


def _words(text: str) -> int:
    return len(text.split())


def _characters(text: str) -> int:
    return sum(map(len, text.split()))


def _ratio(
    predicted: NDArray[np.float64], expected: NDArray[np.float64]
) -> NDArray[np.float64]:
    # an empty prediction for an empty reference has the right length
    nothing = (expected == 0) & (predicted == 0)
    return np.where(nothing, 1.0, predicted / np.where(expected == 0, 1.0, expected))
