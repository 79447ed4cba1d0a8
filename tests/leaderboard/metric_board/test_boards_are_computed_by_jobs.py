"""A metric board is computed when what it rests on changes, and only then."""

import numpy as np
import pytest

from genie.lib import jobs
from leaderboard.metric_board import services
from leaderboard.metric_board.selectors.snapshot import board_inputs
from leaderboard.models import MetricBoard, MetricResult, MetricRun, Submission
from tests.factories import set_state
from tests.leaderboard.metric_board.judged import judged_system, measured
from tests.leaderboard.metric_board.stats.system_level import system_statistics


def lines(board):
    return {line["slug"]: line for line in board.payload["metrics"]}


def table_of(world, slug, sign=1):
    rows = MetricResult.own.filter(metric=slug).order_by("submission_id")
    return sign * np.array([row.per_instance for row in rows])


@pytest.mark.every_engine
def test_a_board_says_what_the_statistics_say(world, board):
    assert (board.state, board.n_systems) == ("READY", 6)
    found = lines(board)
    assert list(found) == ["chrf", "ter"]  # length is neither good nor bad
    human = np.array(
        [
            np.mean(
                submission.human_evaluation.campaign.hits.order_by(
                    "position"
                ).values_list("items__ratings__value", flat=True)
            )
            for submission in world.systems
        ]
    )
    for slug, sign in (("chrf", 1), ("ter", -1)):
        expected = system_statistics(
            100 * human, table_of(world, slug, sign).mean(axis=1)
        )
        for name, value in expected.items():
            assert found[slug]["system"][name]["value"] == pytest.approx(value)
    assert found["chrf"]["system"]["kendall"]["value"] > 0.8
    assert set(board.payload["rankings"]) == {
        "pearson",
        "spearman",
        "kendall",
        "pairwise-accuracy",
        "soft-accuracy",
        "calibrated",
    }
    assert board.payload["rankings"]["calibrated"]["order"] == ["chrf", "ter"]
    assert board.payload["n_judged"] == 25


def test_the_same_inputs_are_not_computed_twice_and_give_the_same_bytes(world, board):
    assert services.refresh(world.task) == 0
    again = services.payload_of(
        world.task, board_inputs(world.task, "overall"), seed=board.seed
    )
    assert again == board.payload
    services.compute(board.pk)
    assert MetricBoard.objects.get().computed_at == board.computed_at


@pytest.mark.every_engine
def test_a_task_that_nobody_has_judged_has_no_board(world):
    set_state(Submission.own.all(), "MEASURED")
    assert services.refresh(world.task) == 0
    assert not MetricBoard.objects.exists()


def test_simulated_systems_do_not_stand_among_judged_ones(world, board, cast):
    fields = {"team": cast.team, "owner": cast.submitter, "n_judged": 25}
    robot = judged_system(
        world.task, 0.5, rng=world.rng, name="Robot", simulated=True, **fields
    )
    measured(robot, "chrf", np.ones(40))
    assert not board.simulated
    assert board_inputs(world.task, "overall").n_simulated_left_out == 1
    assert services.refresh(world.task) == 0  # nothing that counts has changed
    Submission.own.update(simulated=True)
    services.refresh(world.task)
    jobs.drain()
    new = MetricBoard.objects.first()
    assert new.simulated
    assert new.n_systems == 7


def test_a_metric_that_is_being_computed_waits_until_it_stands_still(world):
    MetricRun.objects.create(task=world.task, metric="ter", identity="x")
    slugs = [m.slug for m in board_inputs(world.task, "overall").metrics]
    assert slugs == ["chrf"]


def test_a_metric_that_lacks_a_system_is_shown_but_not_compared(world):
    MetricResult.objects.filter(submission=world.systems[0], metric="ter").delete()
    services.refresh(world.task)
    jobs.drain()
    found = MetricBoard.objects.get()
    line = lines(found)["ter"]
    assert (line["complete"], line["n_systems"]) == (False, 5)
    assert line["points"][0] is None
    assert found.payload["compared"] == ["chrf"]
    assert found.payload["rankings"]["pearson"]["order"] == ["chrf"]


@pytest.mark.every_engine
def test_a_board_that_fails_says_so_and_can_be_tried_again(world, monkeypatch):
    def fail(*args, **kwargs):
        raise MemoryError("too large")

    with monkeypatch.context() as patch:
        patch.setattr(services, "payload_of", fail)
        for _ in range(4):
            services.refresh(world.task)
            jobs.drain()
    found = MetricBoard.objects.get()
    assert found.state == "FAILED"
    assert "MemoryError: too large" in found.failure
    assert services.refresh(world.task) == 0
    assert services.retry(found)
    jobs.drain()
    found.refresh_from_db()
    assert (found.state, found.failure) == ("READY", "")
    assert not services.retry(found)


@pytest.mark.every_engine
def test_old_snapshots_are_dropped(world, board):
    for k in range(8):
        Submission.objects.filter(pk=world.systems[0].pk).update(system_name=f"S{k}")
        services.refresh(world.task)
    boards = MetricBoard.objects.all()
    assert boards.count() <= services.KEPT + 1
    assert boards.filter(pk=board.pk).exists()  # the one that is shown meanwhile
