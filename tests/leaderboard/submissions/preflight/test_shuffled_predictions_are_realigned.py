import numpy as np
import pytest

from leaderboard.metrics.base import Batch, all_metrics
from leaderboard.submissions.preflight import realign
from tests.leaderboard.metrics import wmt21
from tests.leaderboard.submissions.preflight.cast import reworded, sentences
from tests.shared import needs_shared


def rows(texts: list[str]) -> list[list[str]]:
    return [[text] for text in texts]


@pytest.mark.parametrize("n", [2, 40, 700])
def test_every_text_finds_its_instance_again(n):
    references = sentences(n)
    permutation = np.random.default_rng(n).permutation(n)
    order = realign([references[i] for i in permutation], rows(references))
    assert (permutation[order] == np.arange(n)).all()


def test_it_is_always_a_permutation_whatever_the_texts():
    for texts in (["", "", ""], ["a", "a", "a"], ["a", "", "ccc ddd"]):
        order = realign(texts, rows(["x", "ccc ddd", ""]))
        assert sorted(order.tolist()) == [0, 1, 2]


def test_a_straight_file_is_left_as_it_is():
    references = sentences(100)
    order = realign(reworded(references), rows(references))
    assert order.tolist() == list(range(100))


def test_equal_texts_stay_where_they_are():
    texts = ["Yes.", "No.", "Yes.", "Yes."]
    assert realign(texts, rows(texts)).tolist() == [0, 1, 2, 3]


def test_nothing_in_nothing_out():
    assert realign([], []).shape == (0,)


def test_other_systems_help_where_references_say_little():
    truth = sentences(60)
    references = [[" ".join(text.split()[:2])] for text in truth]
    permutation = np.random.default_rng(7).permutation(60)
    texts = reworded(truth, seed=4, share=0.15)
    handed_in = [texts[i] for i in permutation]
    alone = realign(handed_in, references)
    helped = realign(handed_in, references, [reworded(truth, seed=6, share=0.15)])
    n_right = [(permutation[r] == np.arange(60)).sum() for r in (alone, helped)]
    assert n_right[0] < 45
    assert n_right[1] >= 58


def test_others_alone_are_enough_where_references_are_hidden():
    truth = sentences(30)
    result = realign(truth[1:] + truth[:1], [[] for _ in truth], [truth])
    assert result.tolist() == [29, *range(29)]


def test_another_shuffled_submission_does_not_mislead():
    references = sentences(80)
    wrong = references[1:] + references[:1]
    order = realign(wrong, rows(references), [wrong, wrong])
    assert (order == np.roll(np.arange(80), 1)).all()


def test_beyond_the_exact_size_nearly_the_same_fit_comes_out(monkeypatch):
    references = sentences(400)
    permutation = np.random.default_rng(3).permutation(400)
    texts = reworded(references, share=0.3)
    handed_in = [texts[i] for i in permutation]
    exact = realign(handed_in, rows(references))
    monkeypatch.setattr("leaderboard.submissions.preflight.similarity._EXACT", 100)
    quick = realign(handed_in, rows(references))
    assert sorted(quick.tolist()) == list(range(400))
    n_right = [(permutation[r] == np.arange(400)).sum() for r in (exact, quick)]
    assert n_right[1] > 0.9 * n_right[0] > 310


def test_texts_that_fit_nowhere_end_too(monkeypatch):
    monkeypatch.setattr("leaderboard.submissions.preflight.similarity._EXACT", 50)
    result = realign(["same"] * 220, rows(sentences(220)))
    assert sorted(result.tolist()) == list(range(220))


@needs_shared
@pytest.mark.parametrize(
    ("system", "as_handed_in", "published", "with_others"),
    [
        ("GENIE-large-6-6", "1.00", "32.38", False),
        ("GENIE-base-3-3", "0.85", "31.21", True),
    ],
)
def test_the_published_bleu_comes_out(system, as_handed_in, published, with_others):
    texts = list(wmt21.predictions(f"hyp.{system}"))
    references = [[text] for text in wmt21.lines("reference.A.txt")]
    names = ["hyp.SMU", "hyp.UEdin", "hyp.GENIE-large-6-6", "hyp.Online-A"]
    others = [list(wmt21.predictions(name)) for name in names] if with_others else []
    order = realign(texts, references, others)
    bleu = all_metrics()["sacrebleu"]()
    before = bleu.compute(Batch(texts, references)).overall
    after = bleu.compute(Batch([texts[i] for i in order], references)).overall
    assert (f"{before:.2f}", f"{after:.2f}") == (as_handed_in, published)
