"""The first page of the admin begins with what waits for a person."""

from django.contrib.admin import site
from django.contrib.admin.models import LogEntry
from django.utils import timezone
from django_q.models import Failure, OrmQ

from crowd.models import Campaign
from genie.lib import jobs
from leaderboard.models import Submission
from leaderboard.site.admin_site import GROUPS, TABLES
from tests.factories import make_evaluation

State = Submission.State


def waits(client):
    text = client.get("/admin/").text
    return text[text.index("waits-for-you") : text.index('id="tables"')]


def make_failure(job="leaderboard.jobs.measure", **kwargs):
    return Failure.objects.create(
        id="f" * 32,
        name="sad-song",
        func=job,
        kwargs=kwargs,
        started=timezone.now(),
        stopped=timezone.now(),
        success=False,
        result="No memory.",
    )


def test_on_a_quiet_day_nothing_waits(boss, without_decoys):
    assert "You have no pending decisions" in waits(boss)


def test_submissions_to_approve_come_first_each_with_its_page(
    boss, without_decoys, waiting
):
    submission = waiting("Kite")
    waiting("Done", state=State.PUBLISHED)
    text = waits(boss)
    assert "Submissions to approve: 1" in text
    assert f"/admin/leaderboard/submission/{submission.pk}/approve/" in text
    assert "Done" not in text


def test_only_the_first_few_are_named(boss, without_decoys, waiting):
    for n in range(8):
        waiting(f"System-{n}")
    text = waits(boss)
    assert "Submissions to approve: 8" in text
    assert [n for n in range(8) if f"System-{n}" in text] == [0, 1, 2, 3, 4]


def test_failed_steps_wait_with_their_reason(boss, waiting):
    waiting("Stuck", state=State.VALID, failure="<No> memory.")
    text = waits(boss)
    assert "Submissions with a failed step: 1" in text
    assert "measure: &lt;No&gt; memory." in text


def test_campaigns_with_a_notice_wait(boss, waiting):
    evaluation = make_evaluation(waiting(state=State.ANNOTATING))
    Campaign.own.update(notice="The budget is used up.")
    assert "Campaigns with a notice: 1" in waits(boss)
    Campaign.objects.filter(pk=evaluation.campaign.pk).update(
        state=Campaign.State.COMPLETE
    )
    assert "Campaigns with a notice" not in waits(boss)


def test_failed_jobs_wait(boss, db):
    make_failure(pk=7)
    assert "Failed jobs: 1" in waits(boss)


def test_staff_see_only_what_they_may_look_at(client_of, waiting):
    waiting()
    make_failure(pk=7)
    assert "You have no pending decisions" in waits(client_of("new_staff"))


def test_everybody_else_is_sent_to_sign_in(client_of, waiting):
    for who in ("visitor", "submitter", "rival", "worker"):
        assert client_of(who).get("/admin/").status_code == 302


def test_a_failed_job_runs_again_through_the_door(boss, db):
    failure = make_failure(pk=7)
    path = "/admin/django_q/failure/"
    assert "No memory." in boss.get(path).text
    assert "No memory." in boss.get(path, {"q": "measure"}).text
    form = {"action": "retry_selected", "_selected_action": [failure.pk]}
    assert "Run jobs again" in boss.post(path, form).text
    assert not jobs.queued_jobs()  # it asks first
    boss.post(path, {**form, "confirmed": "yes", "reason": "More memory."})
    assert jobs.queued_jobs() == {("leaderboard.jobs.measure", (("pk", 7),))}
    assert not Failure.objects.exists()
    logged = LogEntry.objects.get(object_id=failure.pk)
    assert logged.get_change_message() == (
        "leaderboard.jobs.measure queued again. Reason: More memory."
    )


def test_a_failed_job_with_other_things_than_keys_is_refused(boss, db):
    failure = make_failure(pk=["not", "a", "key"])
    answer = boss.post(
        "/admin/django_q/failure/",
        {
            "action": "retry_selected",
            "_selected_action": [failure.pk],
            "confirmed": "yes",
            "reason": "Once more.",
        },
        follow=True,
    )
    assert answer.status_code == 200
    assert "accepts only keys" in answer.text
    assert not OrmQ.objects.exists()
    assert Failure.objects.exists()
    assert not LogEntry.objects.exists()


def test_lists_stand_in_the_order_of_the_work_and_tables_last(boss, db):
    text = boss.get("/admin/").text
    places = [text.index(f">{name}</a>") for name in GROUPS]
    assert places == sorted(places)
    assert text.index(">Submissions</a>") < text.index(">Campaigns</a>")
    assert text.index(f">{TABLES}</a>") < text.index(">Assignments</a>")


def test_every_list_that_has_a_place_exists():
    known = {model._meta.label_lower for model in site._registry}
    assert {name for names in GROUPS.values() for name in names} <= known
