"""BLEU, chrF++ and TER are what sacrebleu's public functions give."""

import numpy as np
import pytest
import sacrebleu

from leaderboard.metrics.base import Batch, all_metrics
from tests.leaderboard.metrics import wmt21
from tests.shared import needs_shared

WORDS = [
    "the",
    "The",
    "sea",
    ",",
    "is",
    "3.5",
    "m",
    "deep",
    "here",
    ".",
    "and",
    "nobody",
    "dives",
    "Straße",
    "&quot;",
    "—",
    "x",
]


@pytest.fixture(scope="module")
def batch() -> Batch:
    generator = np.random.default_rng(11)

    def text() -> str:
        return " ".join(generator.choice(WORDS, generator.integers(0, 14)))

    predictions = [text() for _ in range(80)]
    references = [[text() for _ in range(generator.integers(1, 4))] for _ in range(80)]
    predictions[3] = references[3][0]
    return Batch(predictions, references)


def streams(batch: Batch) -> list[list[str | None]]:
    longest = max(map(len, batch.references))
    return [
        [texts[i] if i < len(texts) else None for texts in batch.references]
        for i in range(longest)
    ]


def test_bleu_is_unsmoothed_corpus_bleu_of_the_texts_as_they_are(batch):
    theirs = sacrebleu.corpus_bleu(
        batch.predictions, streams(batch), tokenize="none", smooth_method="none"
    )
    ours = all_metrics()["bleu"]().compute(batch)
    assert ours.overall == theirs.score
    assert "tok:none|smooth:none" in ours.signature


def test_bleu_per_instance_adds_one_from_pairs_on(batch):
    ours = all_metrics()["bleu"]().compute(batch)
    metric = sacrebleu.BLEU(
        tokenize="none", smooth_method="add-k", smooth_value=1, effective_order=True
    )
    assert ours.per_instance.tolist() == [
        metric.sentence_score(prediction, references).score
        for prediction, references in zip(
            batch.predictions, batch.references, strict=True
        )
    ]


def test_bleu_can_ignore_case():
    batch = Batch(["THE SEA IS DEEP"], [["the sea is deep"]])
    assert all_metrics()["bleu"]().compute(batch).overall == 0
    folded = all_metrics()["bleu"](lowercase=True).compute(batch)
    assert folded.overall == pytest.approx(100)
    assert "case:lc" in folded.signature


def test_bleu_sees_spaces_that_sacrebleu_does_not():
    batch = Batch(["It is deep here ."], [["It is deep here."]])
    assert all_metrics()["sacrebleu"]().compute(batch).overall == pytest.approx(100)
    assert all_metrics()["bleu"]().compute(batch).overall < 80


def test_chrf_plus_plus_is_chrf_with_pairs_of_words(batch):
    ours = all_metrics()["chrf-plus-plus"]().compute(batch)
    theirs = sacrebleu.corpus_chrf(batch.predictions, streams(batch), word_order=2)
    assert ours.overall == theirs.score
    assert ours.overall != all_metrics()["chrf"]().compute(batch).overall


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
def test_ter_is_sacrebleus(batch, lowercase, normalized):
    metric = all_metrics()["ter"](lowercase=lowercase, normalized=normalized)
    ours = metric.compute(batch)
    options = {"case_sensitive": not lowercase, "normalized": normalized}
    whole = sacrebleu.corpus_ter(batch.predictions, streams(batch), **options)
    assert ours.overall == whole.score
    assert ours.per_instance.tolist() == [
        sacrebleu.sentence_ter(prediction, references, **options).score
        for prediction, references in zip(
            batch.predictions, batch.references, strict=True
        )
    ]


def test_ter_counts_a_moved_run_of_words_as_one_edit():
    batch = Batch(["here the sea is deep"], [["the sea is deep here"]])
    assert all_metrics()["ter"]().compute(batch).overall == pytest.approx(20)


def test_ter_of_a_long_prediction_exceeds_a_hundred():
    batch = Batch(["a b c d e"], [["x"]])
    assert all_metrics()["ter"]().compute(batch).overall == 500


def test_ter_splits_chinese_into_characters():
    batch = Batch(["我喜欢猫"], [["我喜欢狗"]], target_language="zh")
    assert all_metrics()["ter"]().compute(batch).overall == 25


@needs_shared
@pytest.mark.slow
def test_real_submissions_agree_too():
    real = wmt21.batch("hyp.SMU", "A", "B")
    part = Batch(real.predictions[:150], real.references[:150])
    theirs = sacrebleu.corpus_ter(part.predictions, streams(part))
    assert all_metrics()["ter"]().compute(part).overall == theirs.score
