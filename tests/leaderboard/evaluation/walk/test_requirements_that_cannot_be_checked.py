"""A task that requires what its platform cannot check is refused before any money is."""

from dataclasses import replace

import pytest

from crowd.models import Campaign, Commitment, Requirement
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.evaluation import decide
from leaderboard.tasks.config import (
    HumanConfig,
    QualificationConfig,
    RequirementsConfig,
)
from leaderboard.tasks.services import configuration
from tests.factories import asked_about
from tests.kept import kept
from tests.leaderboard.evaluation.steps import ask, settle


def ask_on(task, platform, **human):
    ask(task, platform=platform, **human)


@pytest.fixture
def measured(hand_in, good):
    def handed_in():
        submission = hand_in(good)
        jobs.drain()
        return submission

    return kept("by people", handed_in)


@pytest.mark.parametrize(
    ("platform", "human", "named"),
    [
        ("panel", {"requirements": {"approved": 10}}, "Any panel .* at least 10 approved"),
        ("panel", {"requirements": {"countries": ["US"]}}, "No panel .* lives in US"),
        ("panel", {"study": {"visits": 3}}, "Any panel .* visits"),
        ("prolific", {"requirements": {"countries": ["AQ"]}}, "Prolific .* live in AQ"),
        ("prolific", {"study": {"quotas": {"US": 1}}}, "Prolific .* the quotas"),
        ("prolific", {"study": {"screen_out_cents": 9}}, "Prolific .* screen-out"),
        ("selfhosted", {"study": {"ai_taskers": True}}, "Our own workers .* ai_taskers"),
    ],
)  # fmt: skip
def test_an_approval_names_the_requirement_and_the_platform_and_sets_nothing_aside(
    task, measured, boss, platform, human, named
):
    ask_on(task, platform, **human)
    with pytest.raises(GenieError, match=named):
        decide.approve(asked_about(measured), by=boss)
    assert not Commitment.own.exists()
    task.config["human"].pop("study", None)
    ask_on(task, "selfhosted")
    decide.approve(asked_about(measured), by=boss)


def test_what_staff_require_of_all_work_of_the_task_counts_too(task, measured, boss):
    ask_on(task, "panel")
    Requirement.objects.create(pool_id=task.slug, kind="TEST", test_name="careful")
    with pytest.raises(GenieError, match="qualification careful"):
        decide.approve(asked_about(measured), by=boss)


def test_a_requirement_after_the_approval_stops_the_launch(task, measured, boss):
    ask_on(task, "panel")
    decide.approve(asked_about(measured), by=boss, start_now=True)
    Requirement.objects.create(pool_id=task.slug, kind="COUNTRY", countries="US")
    settle()
    measured.refresh_from_db()
    assert "cannot check" in measured.work.failure
    assert not Campaign.own.exists()


@pytest.mark.parametrize(
    "human",
    [
        HumanConfig(requirements=RequirementsConfig(countries=["AQ"])),
        HumanConfig(qualification_test=QualificationConfig()),
    ],
)
def test_a_task_folder_is_refused_for_it(human):
    configuration.check_requirements(replace(human, platform="mturk"))
    with pytest.raises(GenieError, match="Prolific cannot check"):
        configuration.check_requirements(replace(human, platform="prolific"))
