"""A reward above 0 and below the site's minimum is refused wherever it is stated."""

import copy

import pytest

from genie.lib.errors import GenieError
from leaderboard.evaluation import decide
from leaderboard.studio.services import edit
from leaderboard.tasks import shipped
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import misfits
from leaderboard.tasks.services.load import load_definition, load_task
from tests.factories import (
    asked_about,
    make_submission,
    make_task,
    make_team,
    make_user,
    request_evaluation,
)

SAYS = (
    "human.reward_cents: pays $0.04 for 12 seconds, $12.00 an hour; the minimum is "
    "$15.00 an hour, so pay at least $0.05 (5 cents)."
)


@pytest.fixture
def boss():
    return make_user("boss", is_staff=True, is_superuser=True)


def document(human=(), **tables):
    found = copy.deepcopy(dict(shipped.definition("demo-qa")))
    found["human"] |= dict(human)
    return {**found, **tables}


def problems(**how):
    return {p.key: p.sentence for p in misfits(document(**how)).all()}


def test_a_task_below_the_minimum_is_not_loaded():
    with pytest.raises(GenieError) as caught:
        load_definition(
            "demo-qa", document({"reward_cents": 4}), shipped.folder("demo-qa")
        )
    assert SAYS in caught.value.message
    assert not Task.own.exists()
    load_task("demo-qa")


@pytest.mark.parametrize("table", ["comparison", "joint"])
def test_each_table_is_checked_by_what_it_states_and_inherits(table):
    assert [*problems(**{table: {"reward_cents": 4}})] == [f"{table}.reward_cents"]
    assert problems(**{table: {"reward_cents": 4, "expected_seconds": 9}}) == {}
    # Said once, not for each table that inherits it.
    below = problems(human={"reward_cents": 4}, **{table: {}})
    assert [*below] == ["human.reward_cents"]


def test_without_expected_seconds_the_template_decides():
    human = {"expected_seconds": 0, "hit_template": "summarization"}
    found = problems(human={**human, "reward_cents": 24})["human.reward_cents"]
    assert "for 60 seconds, $14.40 an hour" in found
    assert problems(human={**human, "reward_cents": 25}) == {}


def test_only_volunteers_work_unpaid():
    assert problems(human={"reward_cents": 0}) == {}
    for platform in ("mturk", "prolific", "panel"):
        human = {"reward_cents": 0, "platform": platform}
        assert "only volunteers" in problems(human=human)["human.reward_cents"]


def test_a_loaded_task_is_not_changed_below_the_minimum(boss):
    task = load_task("demo-qa").task
    with pytest.raises(GenieError, match=r"below|minimum"):
        edit.change(task, {"reward_cents": 4}, by=boss)
    edit.change(task, {"reward_cents": 6}, by=boss)
    task.refresh_from_db()
    assert task.human.reward_cents == 6


def test_what_an_earlier_version_loaded_is_not_approved(boss):
    tasks = [make_task("low"), make_task("fair")]
    tasks[0].config["human"]["reward_cents"] = 8
    tasks[0].save()
    for task, expected in zip(tasks, ("below-minimum-pay", None), strict=True):
        submission = make_submission(
            task, team=make_team(f"{task.slug}s", boss), owner=boss, state="MEASURED"
        )
        request_evaluation(submission)
        try:
            decide.approve(asked_about(submission), by=boss)
            code = None
        except GenieError as error:
            code = error.code
        assert (code == "below-minimum-pay") == (expected is not None), code
