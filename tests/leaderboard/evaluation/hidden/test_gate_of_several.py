"""Comparisons and joint evaluations are measured before they start, as submissions are."""

import pytest

from genie.lib.errors import GenieError
from leaderboard.demo import systems_of
from leaderboard.evaluation import decide
from leaderboard.evaluation.services import comparison as compare
from leaderboard.evaluation.services import joint
from leaderboard.evaluation.services.comparison import Question
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.models import ConfirmedOutput
from leaderboard.tasks.services import load
from quality.models import DrawnTests, TestCheck
from tests.factories import make_team, make_user
from tests.kept import kept
from tests.leaderboard.evaluation.hidden.conftest import demo_system
from tests.refusals import refusal

SLUG = "demo-qa"


@pytest.fixture
def systems(db, settings):
    settings.GENIE = {**settings.GENIE, "TEST_QUESTIONS_CHECKED": True}
    return kept("three of demo-qa", _systems)


def _systems():
    task, user = load.load_task(SLUG).task, make_user("nina")
    team = make_team("Heron", user)
    return [demo_system(task, one, team=team, owner=user) for one in systems_of(SLUG)]


def in_the_original_way(task):
    for table in ("human", "comparison", "joint"):
        task.config.setdefault(table, {})["test_questions"] = "references"
    task.save()


def asked_to_compare(systems, admin_user):
    return compare.request(
        *systems[:2], Question("overall", max_pairs=12), by=admin_user
    )


def asked_side_by_side(systems, admin_user):
    return joint.request(systems, by=admin_user, n_workers=2)


@pytest.mark.parametrize("ask", [asked_to_compare, asked_side_by_side])
def test_swapped_references_on_a_page_need_a_persons_word(systems, ask, admin_user):
    in_the_original_way(systems[0].task)
    asked = ask(systems, admin_user)
    decide.measure_together(asked)
    with refusal("tests-stand-out"):
        decide.approve(asked, by=admin_user)
    decide.approve(asked, by=admin_user, despite="As it was done in the original.")
    check = TestCheck.own.get()
    assert check.refused
    assert check.accepted_by == admin_user


@pytest.mark.parametrize("ask", [asked_to_compare, asked_side_by_side])
def test_edits_beside_good_outputs_do_not_stand_out(systems, ask, admin_user):
    asked = ask(systems, admin_user)
    decide.measure_together(asked)
    decide.approve(asked, by=admin_user)
    check = TestCheck.own.get()
    assert (check.refused, check.accepted_at) == (False, None)
    assert check.n_found == check.n_wanted > 0
    assert all(kind.startswith("edit:") for kind in check.kinds)
    assert DrawnTests.own.get().evaluations.get() == check.evaluation


def test_without_references_a_person_is_told_tests_are_missing(systems, admin_user):
    systems[0].task.instances.update(references=[])
    asked = asked_to_compare(systems, admin_user)
    decide.measure_together(asked)
    with pytest.raises(GenieError, match="Only 0 of"):
        decide.approve(asked, by=admin_user)


def test_what_is_known_to_be_good_does_not_choose_the_rated_pages(systems, admin_user):
    task = systems[0].task
    task.config["joint"] = {"positive_share": 0.07, "negative_share": 0.07}
    task.save()
    joint_of_three = asked_side_by_side(systems, admin_user)

    def plan():
        [part] = strategy_of(joint_of_three).plan(joint_of_three)
        assert {one.spec.content_key for one in part.hidden}.isdisjoint(
            one.spec.content_key for one in part.judged
        )
        return [one.instance_pk for one in part.judged], part.hidden

    rated, tests = plan()
    ConfirmedOutput.objects.all().delete()
    assert plan()[0] == rated
    assert plan()[1] != tests
