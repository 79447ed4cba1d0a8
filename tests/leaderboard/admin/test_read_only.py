"""What was measured and scored is read, not edited; tasks are opened and closed."""

import pytest
from django.contrib.admin.models import LogEntry

from crowd.models import Budget
from leaderboard.models import HumanEvaluation, MetricResult, Score, Task
from tests.each import each
from tests.factories import make_ranked


@pytest.fixture
def ranked(task, who):
    return make_ranked(task, 70, **who)


@each("model", [MetricResult, Score, HumanEvaluation])
def test_results_are_shown_and_cannot_be_touched(boss, ranked, model):
    row = model.objects.first()
    base = f"/admin/leaderboard/{model._meta.model_name}/"
    assert boss.get(base).status_code == 200
    page = boss.get(f"{base}{row.pk}/change/")
    assert page.status_code == 200
    assert 'name="_save"' not in page.text
    before = model.objects.filter(pk=row.pk).values().get()
    for path, data in (
        (f"{base}add/", {}),
        (f"{base}{row.pk}/change/", {"value": "99", "mean": "99"}),
        (f"{base}{row.pk}/delete/", {"post": "yes"}),
    ):
        assert boss.post(path, data).status_code == 403
    assert model.objects.filter(pk=row.pk).values().get() == before


def test_a_list_of_results_never_loads_the_numbers_of_each_instance(
    boss, ranked, django_assert_max_num_queries
):
    with django_assert_max_num_queries(12) as queries:
        boss.get("/admin/leaderboard/metricresult/")
    assert not any("per_instance" in query["sql"] for query in queries)


def test_a_task_shows_its_release_and_what_is_left(boss, ranked, task):
    Budget.objects.create(pool_id=task.slug, limit_cents=12345)
    text = boss.get(f"/admin/leaderboard/task/{task.pk}/change/").text
    assert "$123.45" in text
    assert "0" * 64 in text


def test_a_task_is_closed_in_the_admin_and_that_is_logged(boss, task):
    path = f"/admin/leaderboard/task/{task.pk}/change/"
    change = {"hidden_references": "on", "title": "Other", "slug": "other"}
    boss.post(path, change)
    task.refresh_from_db()
    assert task.accepts_submissions  # nothing without a word on why
    boss.post(path, {**change, "why": "The test set leaked."})
    task.refresh_from_db()
    assert (task.accepts_submissions, task.hidden_references) == (False, True)
    assert (task.title, task.slug) == ("Tidy news", "tidy-news")
    said = LogEntry.objects.get(object_id=str(task.pk)).get_change_message()
    assert said.endswith(". Reason: The test set leaked.")
    assert "Reason for this change" not in said


def test_tasks_are_neither_made_nor_deleted_here(boss, task):
    assert boss.get("/admin/leaderboard/task/add/").status_code == 403
    answer = boss.post(f"/admin/leaderboard/task/{task.pk}/delete/", {"post": "yes"})
    assert answer.status_code == 403
    assert Task.objects.filter(pk=task.pk).exists()


def test_the_list_of_tasks_counts_what_was_handed_in_and_what_waits(boss, task, who):
    from tests.factories import make_submission

    for state in ("MEASURED", "MEASURED", "PUBLISHED"):
        make_submission(task, **who, state=state)
    text = boss.get("/admin/leaderboard/task/").text
    assert '<td class="field-n_submissions">3</td>' in text
    assert '<td class="field-n_waiting">2</td>' in text


def test_a_team_is_made_with_its_members(boss, cast):
    answer = boss.post(
        "/admin/leaderboard/team/add/",
        {
            "name": "Team Wren",
            "slug": "wren",
            "memberships-TOTAL_FORMS": 1,
            "memberships-INITIAL_FORMS": 0,
            "memberships-0-user": cast.rival.pk,
            "memberships-0-role": "OWNER",
        },
    )
    assert answer.status_code == 302
    assert "Team Wren" in boss.get("/admin/leaderboard/team/?q=rita").text
