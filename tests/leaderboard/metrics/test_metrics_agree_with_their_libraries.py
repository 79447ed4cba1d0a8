"""Our numbers are the libraries' own, to the last bit."""

import numpy as np
import pytest
import sacrebleu
from rouge_score.rouge_scorer import RougeScorer

from leaderboard.metrics.base import Batch, all_metrics

WORDS = [
    "the",
    "a",
    "running",
    "runner's",
    "sky-blue",
    "42",
    "1,000.5",
    "naïve",
    "ÉCOLE",
    "don't",
    "relational",
    "Straße",
    "flies",
    "dying",
    "generously",
    "ponies",
    "x\u2028y",
    "tab\tbed",
    "new\nline",
    "&",
    "&amp;",
    "<skipped>",
    "“quote”",
    ".",
    "!",
    "--",
    "日本語",
]


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
