"""With a judge's help, a mean stays people's: nothing is believed, and what is saved is measured."""

import numpy as np
import pytest

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
        ({"judged": np.full(800, np.nan)}, "finite score"),
        ({"workers": np.zeros(200)}, "two workers"),
    ],
)
def test_what_cannot_be_estimated_is_refused(change, message):
    people, worker, instance, judge = crowd()
    asked = {"workers": worker, "instances": instance, "judged": judge, **change}
    with pytest.raises(ValueError, match=message):
        judged_mean(people, **asked, seed=1)


def test_a_useless_judge_costs_nothing():
    people, worker, instance, judge = crowd()
    useless = np.random.default_rng(9).permutation(judge)
    found = judged_mean(people, worker, instance, useless, seed=1)
    assert found.helped.half_width < 1.1 * found.plain.half_width
