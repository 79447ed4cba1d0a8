"""Whatever staff may change asks why, and many at once ask once more."""

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry

from crowd.models import Budget, Pool, Requirement
from genie.lib.admin import AsksWhy, ReadOnlyAdmin
from leaderboard.models import Team
from tests.factories import make_submission, make_user

YES = {"confirmed": "yes", "reason": "They asked for it."}


def act(boss, path, action, *rows, **fields):
    data = {"action": action, "_selected_action": [row.pk for row in rows], **fields}
    return boss.post(path, data, follow=True)


def said_of(row):
    entries = LogEntry.objects.filter(object_id=str(row.pk)).order_by("pk")
    return [entry.get_change_message() for entry in entries]


def test_every_page_of_the_admin_reads_only_or_asks_why():
    others = {
        model
        for model, pages in admin.site._registry.items()
        if not isinstance(pages, AsksWhy | ReadOnlyAdmin)
    }
    assert others == set()


def test_nothing_is_deleted_by_djangos_own_action(rf, cast):
    request = rf.get("/admin/")
    request.user = cast.superuser
    offering = {
        model
        for model, pages in admin.site._registry.items()
        if "delete_selected" in pages.get_actions(request)
    }
    assert offering == set()


def test_an_account_ends_as_its_person_would_end_it(boss, cast, task, who):
    kept = make_submission(task, **who)
    assert boss.get(f"/admin/auth/user/{cast.submitter.pk}/delete/").status_code == 403
    act(boss, "/admin/auth/user/", "close_selected", cast.submitter)
    cast.submitter.refresh_from_db()
    assert cast.submitter.is_active
    act(boss, "/admin/auth/user/", "close_selected", cast.submitter, **YES)
    cast.submitter.refresh_from_db()
    assert cast.submitter.username.startswith("deleted-")
    kept.refresh_from_db()
    assert kept.owner == cast.submitter
    assert said_of(cast.submitter) == ["Account deleted. Reason: They asked for it."]


def test_what_others_rest_on_is_not_deleted(boss, cast, task, who):
    make_submission(task, **who)
    empty = Team.objects.create(name="Empty", slug="empty")
    path = "/admin/leaderboard/team/"
    answer = act(boss, path, "delete_with_reason", cast.team, empty, **YES)
    assert "depend on them: Team Heron" in answer.text
    assert Team.objects.filter(pk=cast.team.pk).exists()
    assert not Team.objects.filter(slug="empty").exists()
    assert said_of(cast.team) == []
    assert LogEntry.objects.get().get_change_message() == (
        "Deleted. Reason: They asked for it."
    )


@pytest.mark.every_engine
def test_budgets_are_never_deleted(boss):
    budget = Budget.objects.create(pool=Pool.objects.create(slug="x"), limit_cents=1)
    act(boss, "/admin/crowd/budget/", "delete_with_reason", budget, **YES)
    assert Budget.objects.filter(pk=budget.pk).exists()


def test_who_may_only_look_sees_no_question_why(client_of, staff):
    from django.contrib.auth.models import Permission

    made = Requirement.objects.create(pool=Pool.objects.create(slug="x"), kind="TEST")
    staff.user_permissions.add(Permission.objects.get(codename="view_requirement"))
    page = client_of("staff").get(f"/admin/crowd/requirement/{made.pk}/change/")
    assert page.status_code == 200
    assert "Reason for this change" not in page.text
    act(client_of("staff"), "/admin/crowd/requirement/", "delete_with_reason", made, **YES)  # fmt: skip
    assert Requirement.objects.filter(pk=made.pk).exists()


def test_second_factors_show_no_secret_and_can_be_taken_away(boss):
    from allauth.mfa.models import Authenticator

    nina = make_user("nora")
    made = Authenticator.objects.create(
        user=nina, type=Authenticator.Type.TOTP, data={"secret": "JBSWY3DPEHPK3PXP"}
    )
    path = "/admin/mfa/authenticator/"
    assert "JBSWY3DPEHPK3PXP" not in boss.get(f"{path}{made.pk}/change/").text
    act(boss, path, "delete_with_reason", made, **YES)
    assert not Authenticator.objects.exists()
