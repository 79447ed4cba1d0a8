import pytest

from leaderboard.metrics.base import Batch
from leaderboard.metrics.length import Length


def test_the_overall_ratio_is_of_sums_not_a_mean_of_ratios():
    output = Length().compute(Batch(["a", "a b c d e f"], [["a b"], ["a b"]]))
    assert output.overall == pytest.approx(7 / 4)
    assert output.per_instance.tolist() == [0.5, 3.0]


def test_several_references_count_by_their_mean():
    output = Length().compute(Batch(["a b c"], [["a", "a b c d e"]]))
    assert output.overall == 1.0


def test_the_details_describe_the_predictions_alone():
    details = Length().compute(Batch(["ab c", " ", "def"], [["x y"]] * 3)).details
    assert details["mean_words"] == pytest.approx(1.0)
    assert details["median_words"] == 1.0
    assert details["mean_characters"] == pytest.approx(8 / 3)
    assert details["n_empty"] == 1


def test_languages_without_spaces_are_counted_in_characters():
    batch = Batch(["我喜欢猫"], [["我 喜欢"]], target_language="zh")
    output = Length().compute(batch)
    assert output.overall == pytest.approx(4 / 3)
    assert "unit:character" in output.signature


def test_a_reference_without_words_gives_no_division_by_zero():
    output = Length().compute(Batch(["", "a b"], [[""], [""]]))
    assert output.per_instance.tolist() == [1.0, 2.0]
