"""Exact match and token F1 compare answers as SQuAD's script does."""

import pytest

from leaderboard.metrics.base import Batch, all_metrics


def values(slug: str, prediction: str, *references: str, language: str = "en") -> float:
    batch = Batch([prediction], [list(references)], target_language=language)
    return all_metrics()[slug]().compute(batch).overall


@pytest.mark.parametrize(
    ("prediction", "reference", "equal"),
    [
        ("The Danube", "danube", True),
        ("an  old\tbridge!", "old bridge", True),
        ("U.S.A.", "usa", True),
        ("1,000", "1000", True),
        ("well-known", "well known", False),  # SQuAD joins what a hyphen parts
        ("Danube river", "Danube", False),
        ("theatre", "atre", False),  # articles are words, not letters
        ("bridge old", "old bridge", False),
    ],
)
def test_equal_answers_match(prediction, reference, equal):
    assert values("exact-match", prediction, reference) == 100 * equal


def test_any_reference_will_do():
    assert values("exact-match", "Danube", "Rhine", "the Danube") == 100
    assert values("token-f1", "Danube", "Rhine", "the Danube") == 100


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("old stone bridge", "stone bridge", 80),
        ("bridge stone", "stone bridge", 100),  # order does not matter
        (
            "stone stone stone",
            "stone bridge",
            40,
        ),  # a word counts as often as it is there
        ("river", "bridge", 0),
        ("the", "an", 100),  # nothing is left of either
        ("the", "bridge", 0),
        ("", "bridge", 0),
    ],
)
def test_f1_counts_shared_words(prediction, reference, expected):
    assert values("token-f1", prediction, reference) == pytest.approx(expected)


def test_the_best_reference_counts_per_instance():
    batch = Batch(
        ["stone bridge", "river"], [["bridge", "old stone bridge"], ["a lake"]]
    )
    output = all_metrics()["token-f1"]().compute(batch)
    assert output.per_instance == pytest.approx([80, 0])
    assert output.overall == pytest.approx(40)
    assert "nrefs:var" in output.signature


def test_articles_of_other_languages_are_not_cut():
    # "a" is a verb in French
    assert values("token-f1", "a", "a", language="fr") == 100
    assert values("exact-match", "il a", "il", language="fr") == 0


def test_chinese_answers_are_compared_by_characters():
    assert values("token-f1", "红河。", "红山", language="zh") == 50
    assert values("exact-match", "红河。", "红河", language="zh") == 100
