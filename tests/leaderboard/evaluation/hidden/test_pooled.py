"""Workers who pool what they saw: no input and no likeness of texts tells a test."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from crowd.models import Item
from leaderboard.evaluation.price import crowd_wanted, quote_single
from leaderboard.models import ConfirmedOutput
from quality.models import TestQuestion
from quality.test_questions.separability.measure import aucs
from tests.leaderboard.evaluation.hidden.test_inside_the_sample import (
    answer_all,
    lift_shares,
)
from tests.leaderboard.evaluation.hidden.test_texts import say_something, speak


@pytest.fixture
def task(task_with):
    task = task_with(n=60, sample_size=40, positive_share=0.1, negative_share=0.1)
    say_something(task)
    return task


@pytest.fixture
def said(admin_user):
    """Have staff confirm every other output; half of these equal public references."""

    def write(submission):
        speak(submission)
        rows = list(submission.predictions.select_related("instance"))
        for row in rows[::4]:
            row.text = row.instance.references[0]
        submission.predictions.bulk_update(rows, ["text"])
        for row in rows[::2]:
            ConfirmedOutput.objects.create(prediction=row, confirmed_by=admin_user)

    return write


def hidden_in(campaign):
    return set(
        TestQuestion.own.filter(campaign=campaign).values_list("item", flat=True)
    )


def came_twice(campaign):
    """Return, of tests and of real items, how often their input was answered."""
    answers = Counter()
    items = list(Item.objects.filter(campaign=campaign).select_related("hit"))
    for item in items:
        answers[item.content_key] += item.hit.max_assignments
    tests = hidden_in(campaign)
    sides = ([], [])
    for item in items:
        sides[item.pk not in tests].append([answers[item.content_key]])
    return sides


def test_that_an_input_came_twice_tells_no_test(task, launched, said):
    n = [Counter(), Counter()]
    for name in ("Kite", "Gull", "Tern"):
        _, campaign = launched(task, name, said=said)
        keys = Counter(campaign.items.values_list("content_key", flat=True))
        assert set(keys.values()) == {1}
        n_tests = len(hidden_in(campaign))  # of outputs that few references equal
        assert 6 <= n_tests <= 8
        assert campaign.items.count() == 40 + n_tests
        for side, rows in enumerate(came_twice(campaign)):
            n[side].update(row[0] for row in rows)
    tests, real = (np.array([*side.elements()], float)[:, None] for side in n)
    assert 0.4 <= aucs(tests, real)[0] <= 0.6
    # ordinary items and tests, a tenth of all
    assert n[0][2] + n[1][2] == 3 * 5
    assert n[1][2] > 10


def test_a_positive_test_equals_no_reference_and_no_other_item(task, launched, said):
    _, campaign = launched(task, said=said)
    references = {text for row in task.instances.all() for text in row.references}
    texts = Counter(item.data["prediction"] for item in campaign.items.all())
    good = TestQuestion.own.filter(campaign=campaign, polarity="POSITIVE")
    assert good.count() == 4
    for one in good.select_related("item"):
        assert one.item.data["prediction"] not in references
        assert texts[one.item.data["prediction"]] == 1


def near(worker):
    seen = Item.objects.filter(hit__assignments__worker=worker)
    texts = [item.data["prediction"] for item in seen]
    return [pair for pair in combinations(texts, 2) if Levenshtein.distance(*pair) < 5]


@pytest.mark.parametrize("exposure", ["task", "campaign"])
def test_nobody_meets_nearly_equal_texts(
    task_with, launched, worker_of, admin_user, exposure
):
    task = task_with(n=12, sample_size=8, exposure=exposure, double_share=0.5)
    say_something(task)

    def alike(submission):
        speak(submission)
        for row in submission.predictions.select_related("instance"):
            n = 10 + row.instance.position
            row.text = f"Not far away the new one has been visited by {n} in Oslo."
            row.save()

    _, campaign = launched(task, said=alike)
    lift_shares(campaign, admin_user)
    workers = [worker_of(task, name) for name in ("ann", "bob", "cat")]
    n = answer_all(*workers)
    assert n >= 3
    assert [near(worker) for worker in workers] == [[], [], []]
    # who rates an item a second time is another worker
    twice = campaign.hits.filter(max_assignments=2)
    assert twice.count() == round(0.5 * campaign.hits.count())


def test_the_price_lists_second_answers_and_the_page_says_who_is_needed(task):
    lines = {line.label: line.n for line in quote_single(task).lines}
    assert lines["Second answers to items rated twice"] == 5
    task.config["human"]["double_share"] = 0
    task.save()
    assert "Second answers to items rated twice" not in {
        line.label for line in quote_single(task).lines
    }
    assert crowd_wanted(task, needed=30).startswith("At least 30: ")
