"""ROUGE-Lsum is rouge-score's, to the last bit, however its ties fall."""

from __future__ import annotations

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from leaderboard.metrics.base import Batch, all_metrics
from leaderboard.metrics.text.union_lcs import subsequence_positions


def summaries(generator: np.random.Generator, n: int, words: str) -> list[str]:
    def line() -> str:
        return " ".join(generator.choice(words.split(), generator.integers(0, 13)))

    return [
        "\n".join(line() for _ in range(generator.integers(1, 6))) for _ in range(n)
    ]


# few words make many equally long subsequences, where the way back matters
@pytest.mark.parametrize("words", ["a b", "run runs sea ship sail north . 12 the"])
def test_it_is_rouge_scores(words):
    generator = np.random.default_rng(3)
    n = 300
    predictions = summaries(generator, n, words)
    references = [
        summaries(generator, int(count), words) for count in generator.integers(1, 4, n)
    ]
    predictions[:3] = ["", "\n\n", "..."]
    scorer = RougeScorer(["rougeLsum"], use_stemmer=True)
    theirs = [
        scorer.score_multi(texts, prediction)["rougeLsum"].fmeasure
        for prediction, texts in zip(predictions, references, strict=True)
    ]
    ours = all_metrics()["rougeLsum"]().compute(Batch(predictions, references))
    assert ours.per_instance.tolist() == [100.0 * value for value in theirs]
    assert ours.overall == 100.0 * float(np.mean(theirs))


def test_without_lines_it_is_rouge_l():
    batch = Batch(["ships sail", "sea"], [["the ships sailed north"], ["a", "the sea"]])
    lsum = all_metrics()["rougeLsum"]().compute(batch)
    assert lsum.per_instance.tolist() == (
        all_metrics()["rougeL"]().compute(batch).per_instance.tolist()
    )


def test_lines_let_sentences_change_places():
    batch = Batch(
        ["ships sail north\nnobody sleeps"], [["nobody sleeps\nships sail north"]]
    )
    assert all_metrics()["rougeLsum"]().compute(batch).overall == 100
    assert all_metrics()["rougeL"]().compute(batch).overall == 60


def test_positions_are_those_of_the_table_walked_back():
    generator = np.random.default_rng(8)
    for _ in range(200):
        left = generator.choice(list("abc"), generator.integers(0, 90)).tolist()
        right = generator.choice(list("abc"), generator.integers(0, 90)).tolist()
        table = np.zeros((len(left) + 1, len(right) + 1), dtype=int)
        for i, word in enumerate(left, start=1):
            for j, other in enumerate(right, start=1):
                table[i, j] = (
                    table[i - 1, j - 1] + 1
                    if word == other
                    else max(table[i - 1, j], table[i, j - 1])
                )
        i, j, expected = len(left), len(right), []
        while i and j:
            if left[i - 1] == right[j - 1]:
                expected.append(i - 1)
                i, j = i - 1, j - 1
            elif table[i, j - 1] > table[i - 1, j]:
                j -= 1
            else:
                i -= 1
        assert subsequence_positions(left, right) == expected[::-1]
