"""Our numbers are the libraries' own, to the last bit."""

import numpy as np
import pytest
import sacrebleu
from rouge_score.rouge_scorer import RougeScorer

from leaderboard.metrics.base import Batch, all_metrics

PLAIN = """
    the The a running runner's sky-blue 42 1,000.5 naïve ÉCOLE don't relational Straße
    flies dying generously ponies & &amp; &quot; <skipped> “quote” sea , is 3.5 — . ! --
    日本語
"""
WORDS = [*PLAIN.split(), "x\u2028y", "tab\tbed", "new\nline"]


def texts(generator: np.random.Generator, n: int) -> list[str]:
    lengths = generator.integers(0, 25, n)
    return [" ".join(generator.choice(WORDS, length)) for length in lengths]


@pytest.fixture(scope="module")
def batch() -> Batch:
    generator = np.random.default_rng(4)
    n = 300  # more than are counted at once
    streams = [texts(generator, n) for _ in range(3)]
    references = [
        list(row[: 1 + int(count)])
        for row, count in zip(
            zip(*streams, strict=True), generator.integers(0, 3, n), strict=True
        )
    ]
    predictions = texts(generator, n)
    predictions[3], predictions[4] = "", "   "
    predictions[5] = references[5][0]
    references[6][0] = ""
    return Batch(predictions, references)


@pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeL", "rougeLsum"])
def test_rouge_is_rouge_scores(batch, kind):
    scorer = RougeScorer([kind], use_stemmer=True)
    theirs = [
        scorer.score_multi(references, prediction)[kind].fmeasure
        for prediction, references in zip(
            batch.predictions, batch.references, strict=True
        )
    ]
    ours = all_metrics()[kind]().compute(batch)
    assert ours.per_instance.tolist() == [100.0 * value for value in theirs]
    assert ours.overall == 100.0 * float(np.mean(theirs))


def streams(batch: Batch) -> list[list[str | None]]:
    width = max(map(len, batch.references))
    return [
        [row[column] if column < len(row) else None for row in batch.references]
        for column in range(width)
    ]


def test_bleu_is_sacrebleus(batch):
    ours = all_metrics()["sacrebleu"]().compute(batch)
    assert (
        ours.overall == sacrebleu.corpus_bleu(batch.predictions, streams(batch)).score
    )
    assert ours.per_instance.tolist() == [
        sacrebleu.sentence_bleu(prediction, references).score
        for prediction, references in zip(
            batch.predictions, batch.references, strict=True
        )
    ]


@pytest.mark.parametrize("word_order", [0, 2])
def test_chrf_is_sacrebleus(batch, word_order):
    ours = all_metrics()["chrf"](word_order=word_order).compute(batch)
    whole = sacrebleu.corpus_chrf(
        batch.predictions, streams(batch), word_order=word_order
    )
    assert ours.overall == whole.score
    assert ours.per_instance.tolist() == [
        sacrebleu.sentence_chrf(prediction, references, word_order=word_order).score
        for prediction, references in zip(
            batch.predictions, batch.references, strict=True
        )
    ]


def test_sacrebleus_own_signature_is_kept(batch):
    bleu = sacrebleu.BLEU()
    bleu.corpus_score(list(batch.predictions), streams(batch))
    ours = all_metrics()["sacrebleu"]().compute(batch).signature
    assert ours == str(bleu.get_signature())
    assert ours.startswith("nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_chinese_is_cut_into_characters_before_bleu():
    batch = Batch(["我喜欢猫"], [["我喜欢狗"]], target_language="zh")
    output = all_metrics()["sacrebleu"]().compute(batch)
    assert "tok:zh" in output.signature
    assert (
        output.overall
        == sacrebleu.corpus_bleu(["我喜欢猫"], [["我喜欢狗"]], tokenize="zh").score
    )
    assert output.overall > 40


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


def test_chrf_plus_plus_is_chrf_with_pairs_of_words(batch):
    ours = all_metrics()["chrf-plus-plus"]().compute(batch)
    assert ours.overall == all_metrics()["chrf"](word_order=2).compute(batch).overall
    assert ours.overall != all_metrics()["chrf"]().compute(batch).overall


@pytest.mark.parametrize(("lowercase", "normalized"), [(1, 0), (0, 1)])
def test_ter_is_sacrebleus(batch, lowercase, normalized):
    batch = Batch(batch.predictions[:25], batch.references[:25])
    metric = all_metrics()["ter"](
        lowercase=bool(lowercase), normalized=bool(normalized)
    )
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


def test_ter_splits_chinese_into_characters():
    batch = Batch(["我喜欢猫"], [["我喜欢狗"]], target_language="zh")
    assert all_metrics()["ter"]().compute(batch).overall == 25
