"""Staff leave out one person's ratings and take that back: N8 of what was measured."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.db.models import Count
from django.urls import reverse

from crowd.campaigns.services import run
from crowd.models import Campaign, Message
from crowd.workers.models.worker import Worker
from crowd.workers.services import invitations
from crowd.workers.services import invitations as consent
from genie.lib import jobs
from leaderboard.boards.selectors.rows import standings
from leaderboard.evaluation import decide
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd, Player
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.models import Score
from leaderboard.site.roles import permissions_of
from quality.models import Appeal, Ban
from tests.factories import asked_about, make_user, signed_in
from tests.kept import kept
from tests.leaderboard.evaluation.steps import ask, settle
from tests.leaderboard.imports.test_bring_in import ratings

REASON = "Dora tried the study out <b>before</b> it began."


@pytest.fixture
def manager():
    """Return a browser of staff with the role of worker managers, and no more."""
    mira = make_user("mira", is_staff=True)
    group = Group.objects.create(name="Managers of workers")
    for name in permissions_of("Worker manager"):
        app, _, codename = name.partition(".")
        group.permissions.add(
            *Permission.objects.filter(content_type__app_label=app, codename=codename)
        )
    mira.groups.add(group)
    return signed_in(mira)


@pytest.fixture
def raters(task):
    crowd = []
    for name in ("dora", "emil", "fred", "gina"):
        worker = invitations.register_worker(
            user=make_user(name), platform_worker_id=name
        )
        crowd.append(Player(worker, DILIGENT))
    return crowd


@pytest.fixture
def study(task, raters, hand_in, good, boss, quality):
    """Return a task without test questions of which two systems are rated."""

    def rated():
        ask(task, positive_share=0.0, negative_share=0.0, worker_percent=100)
        wrong = dict.fromkeys(good, "I do not know.")
        for name, content in (("Right", good), ("Wrong", wrong)):
            hand_in(content, name=name)
        jobs.drain()
        for submission in task.submissions.all():
            decide.approve(asked_about(submission), by=boss, start_now=True)
        settle()
        # who agreed before it was stated who asks has not agreed to this
        for rater in raters:
            consent.give_consent(rater.worker, task.slug)
        Crowd(raters, quality=quality, seed=1).work()
        settle()
        settle()
        assert [row.human.n for row in standings(task)] == [12, 12]
        return task

    return kept("study", rated)


def board_of(client, task) -> dict[str, str]:
    """Return the board as files and as a page, less the moment at which it was read."""
    made = [
        client.get(reverse("leaderboard:board-export", args=[task.slug, form])).text
        for form in ("json", "csv")
    ]
    page = client.get(reverse("leaderboard:board", args=[task.slug])).text
    names = ("json", "csv", "page")
    moments = r"/at/\w+/|as of [-\d]+ [:\d]+ UTC|\"as_of\": \"[^\"]*\""
    return {
        name: re.sub(moments, "", text)
        for name, text in zip(names, [*made, page], strict=True)
    }


def estimates_of(task) -> dict[str, dict[str, object]]:
    scores = Score.objects.filter(submission__task=task, superseded_at=None)
    return {one.submission.system_name: one.estimates for one in scores}


def posted(client, address, **fields):
    page = client.get(address)
    assert page.status_code == 200, address
    hidden = re.findall(
        r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text
    )
    return client.post(address, {**dict(hidden), **fields}, follow=True)


def impose(worker, task) -> str:
    return reverse("admin:quality_ban_impose", args=[worker.pk]) + f"?pool={task.slug}"


@pytest.mark.slow
def test_the_notice_leads_to_where_ratings_are_left_out_and_back(
    study, raters, manager, client
):
    dora, task = raters[0].worker, study
    campaign = Campaign.objects.filter(pool=task.slug).first()
    Campaign.objects.filter(pk=campaign.pk).update(notice=run.TOO_FAST)
    before = board_of(client, task)
    assert board_of(client, task) == before

    # everyone who answered is on the page that the notice leads to
    listed = manager.get(reverse("admin:quality_grade_changelist"), {"pool": task.slug})
    for player in raters:
        assert player.worker.pseudonym in listed.text
        assert player.worker.user.username in listed.text
    address = impose(dora, task)
    assert address in listed.text

    asked = manager.get(address).text
    assert "their ratings no longer count" in asked
    assert "reads your reason" in asked
    posted(manager, address, reason=REASON)
    again = posted(manager, address, reason=REASON)
    assert "already banned" in again.text
    ban = Ban.own.get()
    assert (ban.worker, ban.pool_id, ban.reason) == (dora, task.slug, REASON)
    assert LogEntry.objects.filter(object_id=str(ban.pk)).count() == 1
    assert Message.objects.filter(worker=dora, kind="BANNED").count() == 1

    settle()
    without = board_of(client, task)
    for name, content in without.items():
        assert content != before[name], name
    assert all(row.human.n < 12 for row in standings(task))
    assert [row.rank_first for row in standings(task)] == [1, 2]

    listed = manager.get(reverse("admin:quality_grade_changelist"), {"pool": task.slug})
    lift = reverse("admin:quality_ban_lift", args=[ban.pk])
    assert lift in listed.text
    posted(manager, lift, reason="It was the right study.")
    manager.post(lift, {"confirmed": "yes", "reason": "It was the right study."})
    settle()
    settle()
    after = board_of(client, task)
    for name in before:
        assert after[name] == before[name], name
    last = Score.own.filter(superseded_at=None, reason__contains="1 worker readmitted")
    assert last.count() == 2
    assert not Ban.own.filter(lifted_at=None).exists()
    assert Message.objects.filter(worker=dora, kind="UNBANNED").count() == 1


def test_imported_ratings_of_one_person_are_left_out_and_come_back(manager, client):
    staff = make_user("importer")
    tasks = []
    for slug in ("one", "two"):
        judged = ratings(n=12)
        # estimates of systems that one did not rate move with another's, and return
        left_out = (judged.rows["worker"] == "w0") & (judged.rows["system"] != "red")
        judged.rows = judged.rows[~left_out].reset_index(drop=True)
        tasks.append(bring_in(judged, slug=slug, by=staff).task)
    before = [board_of(client, task) for task in tasks]
    estimates = estimates_of(tasks[0])
    here = Worker.own.filter(assignments__hit__campaign__pool="one")
    worker = here.annotate(n=Count("assignments")).order_by("n").first()
    listed = manager.get(reverse("admin:quality_grade_changelist"), {"pool": "one"})
    assert worker.pseudonym in listed.text
    posted(manager, impose(worker, tasks[0]), reason=REASON)
    settle()
    without = board_of(client, tasks[0])
    assert without["json"] != before[0]["json"]
    assert without["csv"] != before[0]["csv"]
    moved = estimates_of(tasks[0])
    assert [moved[name] != estimates[name] for name in ("red", "blue")] == [True, True]
    for row in standings(tasks[0]):
        assert row.rank_first is not None
    assert board_of(client, tasks[1]) == before[1]
    lift = reverse("admin:quality_ban_lift", args=[Ban.own.get().pk])
    posted(manager, lift, reason="A mistake.")
    settle()
    settle()
    assert [board_of(client, task) for task in tasks] == before


def test_who_may_only_look_cannot_leave_anyone_out(study, raters):
    sam = make_user("organiser", is_staff=True)
    sam.user_permissions.add(Permission.objects.get(codename="view_grade"))
    client = signed_in(sam)
    listed = client.get(reverse("admin:quality_grade_changelist"), {"pool": study.slug})
    assert raters[0].worker.pseudonym in listed.text
    assert "Leave out ratings" not in listed.text
    # names are for those who may see workers
    assert "dora" not in listed.text
    address = impose(raters[0].worker, study)
    sent = {"confirmed": "yes", "reason": REASON}
    assert client.post(address, sent).status_code == 403
    assert not Ban.own.exists()


def test_who_is_left_out_reads_why_and_can_appeal(study, raters, manager, client):
    dora = raters[0].worker
    posted(manager, impose(dora, study), reason=REASON)
    home = signed_in(dora.user).get(reverse("work:home")).text
    assert "Dora tried the study out &lt;b&gt;before&lt;/b&gt; it began." in home
    assert reverse("appeals:ban", args=[study.slug]) in home
    assert "There is no work at the moment" not in home
    other = signed_in(raters[1].worker.user).get(reverse("work:home")).text
    assert "There is no work at the moment" in other
    assert "Dora tried" not in other


def test_exclusion_from_all_work_keeps_ratings_and_can_be_appealed(
    study, raters, manager, client
):
    dora, emil = raters[0].worker, raters[1].worker
    before = board_of(client, study)
    address = reverse("admin:crowd_worker_changelist")
    data = {"action": "exclude_selected", "_selected_action": [dora.pk]}
    asked = manager.post(address, data).text
    assert "their ratings still count" in asked
    assert "unless you ban them" in asked
    for _ in range(2):
        manager.post(address, {**data, "confirmed": "yes", "reason": REASON})
    settle()
    assert board_of(client, study) == before
    # the worker's page leads to where they are left out
    page = manager.get(reverse("admin:crowd_worker_change", args=[dora.pk])).text
    there = reverse("admin:quality_grade_worker", args=[dora.pk])
    assert there in page
    assert impose(dora, study) in manager.get(there).text

    browser = signed_in(dora.user)
    home = browser.get(reverse("work:home")).text
    appeal_page = reverse("appeals:exclusion")
    assert "&lt;b&gt;before&lt;/b&gt;" in home
    assert appeal_page in home
    assert "There is no work at the moment" not in home
    assert signed_in(emil.user).get(appeal_page).status_code == 404
    assert browser.get(appeal_page).status_code == 200
    words = "I only tested the page."
    for _ in range(2):
        browser.post(appeal_page, {"words": words})
    assert browser.post(appeal_page, {"words": "More."}).status_code == 422
    appeal = Appeal.own.get()
    assert (appeal.worker, appeal.against) == (dora, "exclusion from all work")

    answer = reverse("admin:quality_appeal_answer", args=[appeal.pk])
    assert "Granting readmits the worker" in manager.get(answer).text
    for _ in range(2):
        manager.post(answer, {"grant": "yes", "sentence": "You are right."})
    dora.refresh_from_db()
    appeal.refresh_from_db()
    assert (dora.excluded, appeal.state) == (False, Appeal.State.GRANTED)
    assert Message.objects.filter(worker=dora, kind="APPEAL").count() == 1
    assert "There is no work at the moment" in browser.get(reverse("work:home")).text

    # a later exclusion is another decision, with an appeal of its own
    manager.post(address, {**data, "confirmed": "yes", "reason": "Again."})
    assert "<textarea" in browser.get(appeal_page).text
    browser.post(appeal_page, {"words": words})
    assert Appeal.own.count() == 2
