"""With a judge's help, a mean stays people's: nothing is believed, and what is saved is measured."""

import numpy as np
import pytest

from genie_research.judges.coverage_study import study_coverage
from genie_research.judges.money import share_saved
from leaderboard.stats.judges.validation import alternative_annotator_test
from leaderboard.stats.judges.with_people import judged_mean


def crowd(seed=0, n=200, of=800):
    rng = np.random.default_rng(seed)
    judge = rng.normal(size=of)
    worker = np.arange(n) % 20
    people = 3 * judge[:n] + rng.normal(0, 0.5, 20)[worker] + rng.normal(size=n)
    return people, worker, np.arange(n), judge


def test_the_judges_scale_and_direction_do_not_matter():
    people, worker, instance, judge = crowd()
    one = judged_mean(people, worker, instance, judge, seed=1)
    other = judged_mean(people, worker, instance, 7 - 2 * judge, seed=1)
    assert other.helped.estimate == pytest.approx(one.helped.estimate)
    assert one.helped.half_width < 0.9 * one.plain.half_width
    assert one.labels_saved > 20
    assert (
        one.plain.half_width
        == judged_mean(people, worker, instance, np.zeros(800), seed=1).plain.half_width
    )


def test_a_judge_that_is_the_same_everywhere_leaves_the_plain_mean():
    people, worker, instance, _ = crowd()
    found = judged_mean(people, worker, instance, np.full(800, 4.0), seed=1)
    assert found.helped == found.plain
    assert found.plain.estimate == pytest.approx(people.mean())
    assert (found.explained, found.labels_saved) == (0.0, 0.0)


def test_few_workers_say_no_more_than_a_few_can():
    # rated once each: nothing but the workers' own means, as Student has it
    from scipy import stats

    rng = np.random.default_rng(4)
    worker, instance = np.arange(30) % 5, np.arange(30)
    people = rng.normal(0, 5, 5)[worker] + rng.normal(0, 9, 30)
    found = judged_mean(people, worker, instance, np.ones(30), seed=1).plain
    means = [people[worker == one].mean() for one in range(5)]
    students = stats.ttest_1samp(means, 0).confidence_interval()
    reach = (students.high - students.low) / 2
    assert found.half_width == pytest.approx(reach, rel=0.05)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instances": np.arange(200) + 700}, "no score by a judge"),
        ({"instances": np.linspace(0, 1, 200)}, "the number of its instance"),
        ({"judged": np.full(800, np.nan)}, "finite score"),
        ({"workers": np.zeros(200)}, "two workers"),
    ],
)
def test_what_cannot_be_estimated_is_refused(change, message):
    people, worker, instance, judge = crowd()
    asked = {"workers": worker, "instances": instance, "judged": judge, **change}
    with pytest.raises(ValueError, match=message):
        judged_mean(people, **asked, seed=1)


def test_labels_saved_are_what_is_foretold_on_instances_left_out():
    rng = np.random.default_rng(5)
    names = [str(i) for i in range(600)]
    truth = rng.normal(size=600)
    people = {
        who: dict(zip(names, truth + rng.normal(size=600), strict=True))
        for who in "abc"
    }
    good = dict(zip(names, truth, strict=True))
    blind = dict(zip(names, rng.normal(size=600), strict=True))
    # half of the variance of one label is the text's
    saved = share_saved(people, good, numbers=True, seed=1)
    assert saved.estimate == pytest.approx(0.5, abs=0.05)
    assert saved.contains(0.5)
    none = share_saved(people, blind, numbers=True, seed=1)
    assert none.low < 0 < none.high < 0.02
    words = {
        who: {k: "yes" if v > 0 else "no" for k, v in one.items()}
        for who, one in people.items()
    }
    said = {k: "J" if v > 0 else "N" for k, v in good.items()}
    by_word = share_saved(words, said, numbers=False, seed=1).estimate
    agree = np.mean([(words["a"][k] == "yes") == (said[k] == "J") for k in names])
    assert by_word == pytest.approx((2 * agree - 1) ** 2, abs=0.06)
    assert alternative_annotator_test(words, words["a"]).passes
    with pytest.raises(ValueError, match="too few"):
        share_saved(people, {"0": 1.0}, numbers=True, seed=1)
    same = {"a": dict.fromkeys(names, 1), "b": dict.fromkeys(names, 1)}
    with pytest.raises(ValueError, match="cannot save any"):
        share_saved(same, good, numbers=True, seed=1)


def test_a_useless_judge_costs_nothing():
    cells = study_coverage(4, seed=2, n_instances=300, n_people=60, n_workers=12)
    widths = {(one.judge, one.method): one.width for one in cells}
    assert len(widths) == 6
    assert widths["useless", "influence function"] < 1.1
    assert (
        widths["good", "influence function"] < widths["useless", "influence function"]
    )
