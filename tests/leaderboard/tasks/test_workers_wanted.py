"""How many workers a task wants, and what one of them may do."""

import pytest

from leaderboard.evaluation.price import crowd_wanted
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Task


@pytest.mark.parametrize(
    ("said", "wanted", "share", "follows"),
    [
        ({}, 10, 0.2, True),
        ({"workers": 60}, 60, 0.2, False),
        ({"workers": 10}, 10, 0.2, False),
        ({"workers": 8}, 8, 0.25, False),
        ({"workers": 2}, 2, 1.0, False),
        ({"workers": 1}, 1, 1.0, False),
        ({"worker_percent": 5}, 40, 0.05, False),
        ({"worker_percent": 100}, 1, 1.0, False),
        ({"worker_percent": 100, "ratings_per_instance": 3}, 3, 1.0, False),
        ({"workers": 30, "worker_percent": 20}, 30, 0.2, False),
    ],
)
def test_the_share_is_twice_an_equal_part_and_20_percent_from_10_on(
    said, wanted, share, follows
):
    human = HumanConfig(**said)
    assert human.n_workers_wanted == wanted
    assert human.share_of_one == pytest.approx(share)
    assert human.share_follows_crowd == follows


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            {},
            "At least 10. Each may do at most 20% of a campaign: 194 of 968 HITs. If "
            "fewer are active, each may do up to twice an equal share.",
        ),
        (
            {"workers": 8},
            "At least 8. Each may do at most 25% of a campaign: 242 of 968 HITs.",
        ),
        ({"worker_percent": 100}, "At least 1. Each may do as many HITs as they like."),
        (
            {"platform": "mturk"},
            "At least 10. Mechanical Turk lets each do as many HITs as they like.",
        ),
    ],
)
def test_it_is_said_in_a_sentence(said, sentence):
    human = {"sample_size": 800, "reward_cents": 5, **said}
    task = Task(slug="t", n_instances=1_000, config={"human": human})
    assert crowd_wanted(task) == sentence
