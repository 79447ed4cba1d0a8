"""Who may do what in the admin: every action of a list and every page that acts on a row.

An action that is not in the matrix fails the test. Each is posted by members of the four
roles and by staff with exactly the permission that the matrix names (on the site, on the
row's task, on another task) or with all permissions but that one. What is refused or not
confirmed must write nothing; only those that are known to act at once write unconfirmed.
"""

import re
from copy import copy

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.contrib.messages import get_messages
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django.test import RequestFactory
from django.urls import reverse

from crowd.models import Invitation, PayoutRun
from crowd.money.services.payouts import LAYOUTS
from genie.accounts.models import TaskRole
from genie.accounts.task_admin import OfTask
from leaderboard.models import Release, Task
from leaderboard.site.roles import ROLES
from tests.factories import CONFIG, make_user
from tests.leaderboard.admin.test_roles_on_tasks import ELSEWHERE, world  # noqa: F401
from tests.nets.views import call_view, leave_lists_empty

pytestmark = pytest.mark.django_db

# By the permission that is needed beside reading the list, and a sign for each role:
# Reviewer, Organiser, Worker manager, Finance.
MATRIX: dict[str, str] = {
    "crowd.change_campaign -+--": """
        crowd_campaign.start_selected crowd_campaign.pause_selected
        crowd_campaign.resume_selected crowd_campaign.stop_selected
        crowd_campaign.add_money_selected crowd_campaign.ask_for_more_selected
        crowd_campaign.change_reward_selected crowd_campaign.lift_share_selected
        crowd_campaign.make_up_selected crowd_externalcampaign.look_now
    """,
    "crowd.change_assignment ----": """
        crowd_assignment.approve_selected crowd_assignment.reject_selected
        crowd_assignment.take_back_selected
    """,
    "crowd.change_ledgerentry ---+": "crowd_ledgerentry.mark_paid_selected",
    # these lists are not open to Finance
    "crowd.change_ledgerentry ----": """
        crowd_outwardcall.was_paid crowd_outwardcall.send_again
        crowd_assignment.give_bonus
    """,
    "crowd.change_payoutrun ---+": """
        crowd_payoutrun.file_selected crowd_payoutrun.paid_selected
        crowd_payoutrun.take_back_selected crowd_payoutrun_file
        crowd_payout.failed_selected
    """,
    "crowd.change_requester ----": """
        crowd_requester.deposit crowd_requester.set_people
    """,
    "crowd.change_accesskey ----": "crowd_accesskey.revoke_selected",
    "crowd.change_requesterassignment ----": """
        crowd_requesterassignment.mark_paid_selected
    """,
    "crowd.change_requesterbonus ---+": "crowd_requesterbonus.mark_paid_selected",
    "crowd.change_requesterevent ----": "crowd_requesterevent.try_again_selected",
    "crowd.delete_workerrecord ----": "crowd_workerrecord.delete_with_reason",
    "crowd.change_worker --+-": """
        crowd_worker.write_selected crowd_worker.note_selected
        crowd_worker.lift_limit_selected crowd_worker.exclude_selected
        crowd_worker.include_selected
        crowd_worker_write crowd_worker_note crowd_worker_open crowd_worker_exclude
        crowd_worker_include
    """,
    "crowd.view_worker --+-": "leaderboard_worker_data",
    "crowd.add_qualificationgrant --+-": "crowd_worker.grant_selected crowd_worker_grant",
    "crowd.change_qualificationgrant --+-": "crowd_qualificationgrant.revoke_selected",
    "crowd.change_qualificationtest --+-": """
        crowd_qualificationtest.publish_selected crowd_qualificationtest.retire_selected
        crowd_qualificationtest.copy_selected
    """,
    "crowd.add_qualificationtest -++-": "leaderboard_task.draw_test_selected",
    "crowd.delete_qualificationtest ----": "crowd_qualificationtest.delete_with_reason",
    "crowd.delete_requirement ----": "crowd_requirement.delete_with_reason",
    "quality.view_grade -++-": "quality_grade_worker leaderboard_worker_evidence",
    "quality.change_appeal --+-": "quality_appeal_answer",
    "quality.change_ban -++-": "quality_ban.lift_selected quality_ban_lift",
    "quality.add_ban -++-": "quality_ban_impose",
    "quality.change_heldexclusion ----": """
        quality_heldexclusion.confirm_selected quality_heldexclusion.refuse_selected
        quality_heldexclusion_confirm quality_heldexclusion_refuse
    """,
    "quality.change_retiredquestion -+--": "quality_retiredquestion.restore_selected",
    "leaderboard.change_submission -+--": """
        leaderboard_submission.go_on_selected leaderboard_submission_go-on
        leaderboard_submission.publish_partial_selected
        leaderboard_submission_publish-partial
        leaderboard_submission.rank_partial_selected leaderboard_submission_rank-partial
        leaderboard_submission.unrank_partial_selected
        leaderboard_submission_unrank-partial
        leaderboard_submission.withdraw_selected leaderboard_submission_withdraw
        leaderboard_submission_tests leaderboard_submission_describe
        leaderboard_metricrun.stop_selected leaderboard_metricrun.resume_selected
        leaderboard_metricboard.retry_selected leaderboard_outsidemetric.withdraw_selected
    """,
    "leaderboard.delete_import ----": "leaderboard_import.take_back_selected",
    "leaderboard.add_judge -+--": "leaderboard_judge.retire_selected",
    "leaderboard.delete_judgebudget ----": "leaderboard_judgebudget.delete_with_reason",
    "leaderboard.change_judgerun -+--": """
        leaderboard_judgerun.approve_selected leaderboard_judgerun.decline_selected
        leaderboard_judgerun.stop_selected leaderboard_judgerun.go_on_selected
        leaderboard_judgerun.license_selected
    """,
    "leaderboard.change_task -+--": """
        leaderboard_task.release_selected leaderboard_task_report
        leaderboard_release.cancel_selected leaderboard_release.retry_selected
        leaderboard_release.remove_selected leaderboard_release_download
    """,
    "crowd.view_campaign ++++": "leaderboard_task_campaigns",
    "django_q.change_failure -+--": "django_q_failure.retry_selected",
    "django_q.delete_failure ----": "django_q_failure.delete_with_reason",
    "genie.change_accesstoken ----": "genie_accesstoken.revoke_selected",
    "account.delete_emailaddress ----": "account_emailaddress.delete_with_reason",
    "mfa.delete_authenticator ----": "mfa_authenticator.delete_with_reason",
    "socialaccount.delete_socialaccount ----": """
        socialaccount_socialaccount.delete_with_reason
    """,
    "auth.delete_user ----": "auth_user.close_selected",
    "auth.delete_group ----": "auth_group.delete_with_reason",
    "genie.delete_taskrole ----": "genie_taskrole.delete_with_reason",
    "leaderboard.delete_team ----": "leaderboard_team.delete_with_reason",
    "leaderboard.change_webhookdelivery ----": "leaderboard_webhookdelivery.send_again",
}
POLICY = {
    name: line.split() for line, names in MATRIX.items() for name in names.split()
}
POLICY |= {
    f"leaderboard_{kind}{action}": POLICY["leaderboard_submission_tests"]
    for kind in ("comparison", "jointevaluation", "submission")
    for verb in ("approve", "decline", "stop", "retry")
    for action in (f".{verb}_selected", f"_{verb}")
}
USUAL = ("_changelist", "_add", "_history", "_delete", "_change")
# A role on a task opens neither.
OF_THE_SITE = ("delete_with_reason", "_worker_evidence", "_worker_data")
AT_ONCE = {"crowd_externalcampaign.look_now", "leaderboard_task.release_selected"}
REFUSED = re.compile("No action selected|left out")
WRITES = ("INSERT", "UPDATE", "DELETE")
CONFIRMED = {
    **dict.fromkeys(
        ["confirmed", "reason", "sentence", "words", "why", "reference"], "yes"
    ),
    **dict.fromkeys(
        ["agreed", "cents", "amount", "more", "limit", "grant", "start", "approve"], "1"
    ),
}


def acts(rows):
    """Yield name, address, fields and model's admin of each action and page."""
    request = RequestFactory().get("/")
    request.user = get_user_model().objects.get(username="boss")
    for model, of in admin.site._registry.items():
        stem, pk = f"{model._meta.app_label}_{model._meta.model_name}", rows[model].pk
        listed = reverse(f"admin:{stem}_changelist")
        for name in of.get_actions(request):
            yield f"{stem}.{name}", listed, {"action": name, "_selected_action": pk}, of
        for name in sorted({u.name for u in of.get_urls() if u.name}):
            if not name.endswith(USUAL):
                part = "worker_pk" if name == "quality_ban_impose" else "pk"
                address = reverse(f"admin:{name}", kwargs={part: pk})
                yield name, f"{address}?pool={rows[Task].slug}", {}, of


def staff(name, pool=""):
    """Make somebody whose permissions on the site, and in a task, change as we go."""
    user, group = make_user(name, is_staff=True), Group.objects.create(name=name)
    if pool:
        TaskRole.objects.create(user=user, role=group, pool=pool)
    return user, user.user_permissions, group.permissions


def post(user, address, fields, of):
    """Return whether it was allowed on the row, and the statements that wrote."""
    written = []

    def watch(execute, sql, *args):
        if sql.startswith(WRITES) and "privateread" not in sql:
            written.append(sql[:90])
        return execute(sql, *args)

    before = transaction.savepoint()
    with connection.execute_wrapper(watch):
        # a copy has not read its permissions yet
        answer = call_view(copy(user), address, fields)
        request = answer.wsgi_request
        allowed = (
            answer.status_code not in {403, 404}
            and not answer.get("Location", "").startswith(("/admin/login", "/admin/?"))
            and not REFUSED.search(" ".join(map(str, get_messages(request))))
            and "change_list.html" not in str(getattr(answer, "template_name", ""))
            and ("action" not in fields or of.get_queryset(request).exists())
        )
    if answer.streaming:
        answer.file_to_stream.close()
    transaction.savepoint_rollback(before)
    return allowed, written


def test_each_action_is_for_those_that_the_matrix_names(world, monkeypatch):  # noqa: F811
    leave_lists_empty(monkeypatch)
    Task.objects.filter(pk=world[Task].pk).update(config=CONFIG, n_instances=3)
    PayoutRun.own.update(state=PayoutRun.State.IN_FILE, layout=next(iter(LAYOUTS)))
    Release.objects.update(state=Release.State.DONE)
    Release.objects.get().file.storage.save("folder/file.json", ContentFile(b"{}"))
    every = {
        f"{one.content_type.app_label}.{one.codename}": one
        for one in Permission.objects.select_related("content_type")
    }
    all_of = set(every.values())
    views = {one for name, one in every.items() if ".view_" in name}
    here = world[Task].slug
    people = [staff("site"), staff("task", here), staff("off", ELSEWHERE), staff("but")]
    users = [make_user(role, is_staff=True) for role in ROLES]
    for user in users:
        user.groups.add(Group.objects.get(name=user.username))
    users += [user for user, *_ in people]
    wrong, met = {}, set()
    for name, address, fields, of in acts(world):
        met.add(name)
        if name not in POLICY:
            wrong[name] = "not in the matrix"
            continue
        needed, signs = POLICY[name]
        one, same = every[needed], every[needed.replace(".view_", ".change_")]
        on_site = (views | {one}, views - {one}, views - {one}, all_of - {one, same})
        for (_, site, task), held in zip(people, on_site, strict=True):
            site.set(held)
            task.set({one})
        of_task = isinstance(of, OfTask) and not name.endswith(OF_THE_SITE)
        wanted = f"{signs}+{'+' if of_task else '-'}--"
        found = ""
        for user, sign in zip(users, wanted, strict=True):
            sent = fields if sign == "+" else {**CONFIRMED, **fields}
            allowed, written = post(user, address, sent, of)
            found += "+" if allowed else "-"
            if written and (sign == "-" or name not in AT_ONCE):
                wrong[f"{name} wrote"] = written
        if found != wanted:
            wrong[name] = f"{found}, not {wanted}"
    assert wrong == {}
    assert met == set(POLICY)


def test_rows_are_added_and_deleted_only_with_the_permission(world):  # noqa: F811
    Invitation.objects.update(n_taken=0, campaign=None, pool=None)  # else one stays
    user, held, _ = staff("but")
    every = Permission.objects.select_related("content_type")
    opened = []
    for model in admin.site._registry:
        app, name = model._meta.app_label, model._meta.model_name
        for verb, args in (("add", []), ("delete", [world[model].pk])):
            held.set(
                every.exclude(content_type__app_label=app, codename=f"{verb}_{name}")
            )
            address = reverse(f"admin:{app}_{name}_{verb}", args=args)
            if call_view(copy(user), address).status_code == 200:
                opened.append(address)
    assert opened == []
