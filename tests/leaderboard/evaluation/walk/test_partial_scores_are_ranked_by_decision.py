"""Stopping asks whether to publish; a partial score is ranked only if staff say so."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from crowd.models import Campaign
from leaderboard.boards.selectors import home
from leaderboard.boards.selectors.certainty import ranked_pks
from leaderboard.boards.selectors.history import newest_leads
from leaderboard.boards.selectors.rows import standings
from leaderboard.evaluation import decide
from tests.leaderboard.evaluation.steps import now, settle
from tests.refusals import refusal

LIST = "admin:leaderboard_submission_changelist"


@pytest.fixture
def staff(client, django_user_model):
    ada = django_user_model.objects.create_user("ada", is_staff=True)
    names = ["view_submission", "change_submission"]
    ada.user_permissions.set(
        Permission.objects.filter(
            codename__in=names, content_type__app_label="leaderboard"
        )
    )
    client.force_login(ada)
    return client


def post(client, submission, action, **answers):
    data = {"action": action, "_selected_action": [submission.pk], **answers}
    return client.post(reverse(LIST), data, follow=True)


@pytest.fixture
def partial(begun, boss):
    decide.stop(begun.evaluation, by=boss, reason="Too dear.", publish=True)
    settle()
    return now(begun)


def test_the_confirmation_asks_and_wants_an_answer(begun, staff):
    asked = post(staff, begun, "stop_selected").text
    assert "Publish them, marked as partial and without a rank" in asked
    assert "instances rated" in asked
    post(staff, begun, "stop_selected", confirmed="yes", reason="Too dear.")
    assert Campaign.own.get().state == "RUNNING"


def test_where_nothing_was_answered_nobody_is_asked(annotating, staff):
    submission = annotating
    assert "Publish them" not in post(staff, submission, "stop_selected").text
    post(staff, submission, "stop_selected", confirmed="yes", reason="Wrong task.")
    settle()
    assert now(submission).state == "STOPPED"
    assert Campaign.own.get().publish_partial is None


def test_staff_have_it_ranked_and_take_that_back(partial, staff, task, client):
    assert home.task_cards(home.tasks_in_order())[0].best == []
    post(staff, partial, "rank_partial_selected", confirmed="yes", reason="A pilot.")
    row = standings(task)[0]
    assert (row.rank_first, row.rank_last) == (1, 1)
    assert str(row.partial).startswith("stopped at")
    assert ranked_pks(task) == [partial.pk]
    assert len(newest_leads(task, 50)) == 1
    board = client.get(reverse("leaderboard:board", args=[task.slug])).text
    assert "stopped at" in board
    event = partial.events.last()
    assert (event.actor.username, "A pilot." in event.sentence) == ("ada", True)
    page = client.get(reverse("leaderboard:submission", args=[partial.pk])).text
    assert "Staff decided to rank it anyway" in page

    post(staff, partial, "unrank_partial_selected", confirmed="yes", reason="Too few.")
    assert standings(task)[0].rank_first is None
    assert ranked_pks(task) == []
    assert "no longer ranked" in partial.events.last().sentence


def test_a_reason_is_needed_and_one_decision_counts(partial, boss):
    with refusal("reason-missing"):
        decide.rank_partial(partial.evaluation, by=boss, reason=" ", ranked=True)
    decide.rank_partial(partial.evaluation, by=boss, reason="A pilot.", ranked=True)
    with refusal("decided-meanwhile"):
        decide.rank_partial(partial.evaluation, by=boss, reason="A pilot.", ranked=True)


WORDS = (
    "people were asked",
    "raters were asked",
    "rated by people",
    "rated by workers",
)
