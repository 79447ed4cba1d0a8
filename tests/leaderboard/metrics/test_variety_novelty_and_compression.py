"""What is counted without a reference: variety, novelty, compression."""

from __future__ import annotations

import pytest

from genie.lib.errors import GenieError
from leaderboard.metrics.base import Batch, all_metrics
from leaderboard.metrics.text.plain_words import plain_words


def without_references(predictions, sources=(), **more) -> Batch:
    return Batch(predictions, [[] for _ in predictions], sources, **more)


def test_a_system_that_repeats_itself_has_few_distinct_words():
    same = without_references(["I do not know."] * 50)
    varied = without_references(
        [f"word{i} other{i} third{i} last{i}" for i in range(50)]
    )
    distinct = all_metrics()["distinct-1"]()
    assert distinct.compute(same).overall == pytest.approx(100 * 4 / 200)
    assert distinct.compute(varied).overall == 100
    # within each text nothing repeats
    assert distinct.compute(same).per_instance.tolist() == [100.0] * 50


def test_distinct_pairs_are_divided_by_words():
    output = all_metrics()["distinct-2"]().compute(without_references(["a b a b a"]))
    assert output.overall == pytest.approx(100 * 2 / 5)
    assert output.details == {"n_distinct": 2, "n_words": 5}


def test_pairs_do_not_cross_from_text_to_text():
    output = all_metrics()["distinct-2"]().compute(without_references(["a", "b"]))
    assert output.overall == 0


def test_novelty_of_a_copy_is_nothing_and_of_new_words_everything():
    batch = without_references(
        ["the ship sails", "one two three"], ["Today the ship sails.", "Nothing of it."]
    )
    output = all_metrics()["novelty"]().compute(batch)
    assert output.per_instance.tolist() == [0, 100]
    assert output.overall == 50


def test_novelty_leaves_texts_too_short_for_a_pair_out_of_the_mean():
    batch = without_references(["new", "quite new words"], ["old"] * 2)
    output = all_metrics()["novelty"]().compute(batch)
    assert output.overall == 100
    assert output.per_instance.tolist() == [0, 100]
    assert output.details["n_too_short"] == 1


def test_novelty_by_order_and_its_limits():
    batch = without_references(["a b c"], ["a b x c"])
    for order, expected in [(1, 0), (2, 50), (3, 100), (4, 0)]:
        assert all_metrics()["novelty"](order=order).compute(batch).overall == expected
    with pytest.raises(ValueError, match="n-grams of 1 to 4 words, not 5"):
        all_metrics()["novelty"](order=5)


def test_compression_is_source_words_per_word():
    batch = without_references(["one two", "", "x"], ["1 2 3 4", "a b", "c d e"])
    output = all_metrics()["compression"]().compute(batch)
    assert output.per_instance.tolist() == [2, 0, 3]
    assert output.overall == pytest.approx(9 / 3)
    assert output.details == {"mean_of_ratios": pytest.approx(5 / 3), "n_empty": 1}


@pytest.mark.parametrize("slug", ["novelty", "compression"])
def test_a_task_without_a_source_is_refused_in_words(slug):
    with pytest.raises(GenieError, match="needs the source") as caught:
        all_metrics()[slug]().compute(without_references(["a"], [""]))
    assert caught.value.code == "no-sources"


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("Déjà-vu, “ÉTÉ” – non!", "fr", ["déjà-vu", "été", "non"]),
        ("हिन्दी भाषा।", "hi", ["हिन्दी", "भाषा"]),  # marks on letters stay
        ("'tis 3.5% :-)", "en", ["tis", "3.5"]),
        ("日本 語。", "ja", ["日", "本", "語"]),
        ("... — 🙂", "en", []),
        ("", "en", []),
    ],
)
def test_plain_words(text, language, words):
    assert plain_words(text, language) == words
