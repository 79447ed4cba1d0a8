"""The organizer of a study follows it and acts on one page: N9 and N18."""

import re
from functools import partial

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.services import work
from crowd.models import Assignment, Campaign, Invitation, Item, Message, Rating
from crowd.workers.services import invitations
from genie.lib.errors import GenieError
from leaderboard.evaluation import decide
from leaderboard.evaluation.services import fit_pieces
from leaderboard.models import HumanEvaluation, Score, Submission, Task
from quality.models import Ban
from tests.cast import allow
from tests.crowd.making import answers_for, do_one, text_of
from tests.factories import asked_about, make_user, signed_in
from tests.leaderboard.evaluation.steps import hand_in, settle
from tests.leaderboard.studio.conftest import maker, mia  # noqa: F401
from tests.leaderboard.studio.test_new import WIDE, csv_of
from tests.leaderboard.studio.test_pages import _loaded, at, begin

MAY = "crowd.view_campaign crowd.change_campaign quality.add_ban quality.change_ban"
PAID = re.compile(r"\$|\b(?:HITs?|campaigns?|budgets?|assignments?|earnings)\b", re.I)


@pytest.fixture
def organizer(maker, mia):  # noqa: F811
    allow(maker, *MAY.split(), "leaderboard.view_submission", "quality.view_ban")
    return mia


@pytest.fixture
def task(organizer):
    draft = _loaded(organizer, ratings="2")
    approve = {"approve": "", "shown_cents": "0", "agreed": "on"}
    organizer.post(at(draft, "start"), approve)
    settle()
    return draft.task


@pytest.fixture
def page(task):
    return reverse("admin:leaderboard_task_campaigns", args=[task.pk])


@pytest.fixture
def raters(organizer, task, page):
    found = []
    for name in ("Anna", "Ben", "Cleo"):
        answer = organizer.post(page, {"act": "add", "name": name}).text
        token = re.search(r"/work/invitation/([^/\"]+)/", answer)[1]
        rater = invitations.redeem(token, make_user(name.lower()))
        invitations.give_consent(rater, task.slug)
        found.append(rater)
    return found


def entries(about) -> list[str]:
    rows = LogEntry.objects.filter(object_id=str(about.pk)).order_by("pk")
    return [row.get_change_message() for row in rows]


def test_one_page_has_progress_in_total_and_by_person(organizer, task, page, raters):
    for _ in range(3):
        do_one(raters[0])
    opened = work.next_assignment(raters[1])
    organizer.post(page, {"act": "add", "name": "Dora"})
    answer = organizer.get(page)
    text = text_of(answer)
    assert "3 of 40" in text
    assert "Links not opened yet: Dora ." in text
    assert re.search(r"Anna 3 ", text)
    assert f"until {opened.deadline_at:%Y-%m-%d %H:%M}" in text
    assert text.index("Anna") < text.index("Ben")
    assert len(answer.context["studies"]) == 1
    assert PAID.findall(text) == []


def test_a_page_that_a_rater_left_open_is_released(organizer, task, page, raters):
    opened = work.next_assignment(raters[1])
    for _ in range(2):
        organizer.post(page, {"act": "release", "row": opened.pk})
    assert not Assignment.objects.filter(pk=opened.pk).exists()
    assert [one for one in entries(opened.hit.campaign) if "Released" in one] == [
        f"Released the page that {raters[1]} had open."
    ]
    with pytest.raises(GenieError, match="went back"):
        work.submit(opened, answers_for(opened))
    # its rater can take it again
    again = {work.next_assignment(one).hit_id for one in raters[1:]}
    assert opened.hit_id in again


def test_raters_are_reminded_and_more_ratings_asked_for(organizer, task, page, raters):
    organizer.post(page, {"act": "remind", "row": raters[2].pk})
    assert task.title in Message.objects.get(worker=raters[2]).subject
    assert entries(raters[2]) == [f"Reminded of {task.title}."]
    own = Campaign.objects.filter(pool=task.slug)
    form = {"act": "more", "row": [one.pk for one in own], "more": 1}
    form |= {f"shown-{one.pk}": one.answers_per_hit for one in own}
    organizer.post(page, form)
    for _ in range(2):
        organizer.post(page, {**form, "reason": "Few."})
    assert {one.answers_per_hit for one in own.all()} == {3}
    own.update(state=Campaign.State.PAUSED)
    text = text_of(organizer.get(page))
    assert "of 60" in text
    assert "Paused." in text


def test_the_board_with_and_without_one_rater(organizer, task, page, raters):
    for n in range(14):
        for rater, values in zip(raters, ("11", "10", "00"), strict=True):
            do_one(rater, raw=values[n % 2])
    settle()
    settle()
    before = {one.pk: one.mean for one in Score.own.filter(superseded_at=None)}
    assert len(before) == 2
    answer = organizer.get(page, {"without": raters[2].pk})
    compared = answer.context["compared"]
    assert {score.pk: score.mean for score, *_ in compared} == before
    assert all(mean > score.mean for score, mean, _ in compared)
    assert "The board with and without Cleo" in text_of(answer)
    # the same as after the decision
    form = {"act": "leave_out", "row": raters[2].pk}
    organizer.post(page, form)
    assert not Ban.own.exists()
    organizer.post(page, {**form, "reason": "Cleo tried it out."})
    ban = Ban.own.get()
    assert ban.reason == "Cleo tried it out."
    assert entries(ban) == ["Banned: Cleo tried it out."]
    settle()
    settle()
    now = fit_pieces.board_without(task, 0)
    assert [one[1:] for one in now] == [one[1:] for one in compared]
    # and the board with them is still there
    answer = organizer.get(page, {"without": raters[2].pk})
    assert "left out since" in text_of(answer)
    assert "Without Rank With Rank" in text_of(answer)
    again = {one.submission_id: mean for one, mean, _ in answer.context["compared"]}
    assert again == {
        Score.own.get(pk=pk).submission_id: pytest.approx(mean)
        for pk, mean in before.items()
    }
    lift = {"act": "lift", "row": ban.pk, "confirmed": "yes", "reason": "A mistake."}
    organizer.post(page, lift)
    assert not Ban.in_force.filter(worker=raters[2], pool=task.slug).exists()


def test_a_stop_says_whom_it_waits_for_and_ends(organizer, task, page, raters):
    for _ in range(12):
        do_one(raters[0])
    opened = work.next_assignment(raters[1])
    evaluation = HumanEvaluation.objects.get(task=task)
    stop = {"act": "stop", "row": evaluation.pk, "confirmed": "yes", "publish": "yes"}
    assert "Give a reason" in text_of(organizer.post(page, stop, follow=True))
    organizer.post(page, {**stop, "reason": "Enough."})
    due = f"{opened.deadline_at:%H:%M} UTC"
    if opened.deadline_at.date() != timezone.now().date():
        due = f"{opened.deadline_at:%Y-%m-%d} {due}"
    text = text_of(organizer.get(page))
    assert f"Stopped; waiting for 1 open page until {due}." in text
    assert PAID.findall(text) == []
    back = {"act": "go-on", "row": evaluation.pk, "confirmed": "yes", "reason": "No."}
    organizer.post(page, back)
    assert "waiting for 1" not in text_of(organizer.get(page))
    organizer.post(page, {**stop, "reason": "Enough now."})
    # finish: without the open page
    answer = organizer.get(page).text
    finish = re.search(r'name="row" value="(\d+)">\s*<p>To finish now', answer)[1]
    organizer.post(page, {"act": "release", "row": finish})
    settle()
    settle()
    evaluation.refresh_from_db()
    assert evaluation.state == HumanEvaluation.State.SCORED
    assert "Stop the study" not in organizer.get(page).text


def test_a_system_joins_a_running_study(organizer, maker, task, page, raters):  # noqa: F811
    do_one(raters[0])
    own = task.instances.values_list("instance_id", flat=True)
    cleo = hand_in(task, maker, "cleo", dict.fromkeys(own, "No."), simulated=False)
    decide.approve(asked_about(cleo), by=maker, start_now=True)
    settle()
    (study,) = [one for one, _ in organizer.get(page).context["studies"]]
    assert (study["n"], study["n_all"]) == (1, 60)


def test_who_may_only_look_changes_nothing(task, page, raters):
    opened = work.next_assignment(raters[0])
    viewer = make_user("vic", is_staff=True)
    allow(viewer, "crowd.view_campaign")
    client = signed_in(viewer)
    seen = text_of(client.get(page))
    assert "Anna" not in seen
    assert raters[0].pseudonym in seen
    before = (Invitation.objects.count(), LogEntry.objects.count())
    rows = dict.fromkeys(["remind", "leave_out", "add"], raters[0].pk)
    rows |= {"release": opened.pk, "more": Campaign.objects.latest("pk").pk}
    rows["stop"] = HumanEvaluation.objects.get(task=task).pk
    for act, row in rows.items():
        sent = {"row": row, "confirmed": "yes", "reason": "So.", "publish": "yes"}
        client.post(page, {"act": act, "name": "Eve", "more": 1, **sent})
        assert f'value="{act}"' not in client.get(page).text
    assert (Invitation.objects.count(), LogEntry.objects.count()) == before
    # rows of one task are not reached from another's page
    other = Task.objects.create(slug="other", title="Other", sample_seed=1)
    allow(viewer, "crowd.change_campaign")
    there = reverse("admin:leaderboard_task_campaigns", args=[other.pk])
    client.post(there, {"act": "release", "row": opened.pk})
    assert Assignment.objects.filter(pk=opened.pk).exists()


def send_inputs(client, task, files):
    about = {"adds": "yes", "slug": task.slug, "title": "More"}
    shown = begin(client, files, **about)["Location"]
    answer = client.get(shown)
    more = answer.context["more"]
    return answer, partial(client.post, shown, {"on": "", "shown": more["shown"]})


def more_rows(wide, first=5, n=3):
    """Return the last rows of a file as at the start, and new ones."""
    names = [f"new {k}" for k in range(n)]
    return {
        name: [*texts[first:], *(f"{name} of {one}?" for one in names)]
        for name, texts in wide.items()
    }


@pytest.mark.parametrize(
    ("question", "raw", "n_ratings"),
    [("The answer is correct.", "1", 18), ("Which is better?", "A", 9)],
)
def test_inputs_are_added_once_to_a_running_study(
    organizer,
    maker,  # noqa: F811
    question,
    raw,
    n_ratings,
):
    allow(maker, *MAY.split(), "leaderboard.view_submission")
    draft = _loaded(organizer, question=question, n_items="6")
    organizer.post(at(draft, "start"), {"price": ""})
    approve = {"approve": "", "shown_cents": "0", "agreed": "on"}
    organizer.post(at(draft, "start"), approve)
    settle()
    task = draft.task
    link = {"act": "add", "name": "Anna"}
    page = reverse("admin:leaderboard_task_campaigns", args=[task.pk])
    token = re.search(r"/invitation/([^/\"]+)/", organizer.post(page, link).text)[1]
    rater = invitations.redeem(token, make_user("anna"))
    invitations.give_consent(rater, task.slug)
    do_one(rater, raw=raw)
    assert "Add inputs" in organizer.get(page).text
    before = [list(model.own.order_by("pk").values()) for model in (Rating, Item)]
    ids = list(task.instances.order_by("sample_rank").values_list("pk", "instance_id"))
    lacks = {name: texts for name, texts in more_rows(WIDE).items() if name != "bob"}
    answer, _ = send_inputs(organizer, task, {"b.csv": csv_of(lacks)})
    assert "The files lack the outputs of bob." in text_of(answer)
    answer, add = send_inputs(organizer, task, {"b.csv": csv_of(more_rows(WIDE))})
    assert (
        len(answer.context["more"]["new"]),
        len(answer.context["more"]["known"]),
    ) == (3, 5)
    assert PAID.findall(text_of(answer)) == []
    assert task.instances.count() == 10
    assert add().status_code == 302
    assert "were not added" in text_of(add())
    settle()
    task.refresh_from_db()
    assert (task.n_instances, task.sample_size) == (13, 9)
    assert (
        list(task.instances.order_by("sample_rank").values_list("pk", "instance_id"))[
            :6
        ]
        == ids[:6]
    )
    after = [list(model.own.order_by("pk").values()) for model in (Rating, Item)]
    assert [now[: len(old)] for now, old in zip(after, before, strict=True)] == before
    for _ in range(2):
        while work.next_assignment(rater):
            do_one(rater, raw=raw)
        settle()
    assert Rating.own.count() == n_ratings
    assert {
        one.n_predictions
        for one in Submission.own.annotate(n_predictions=Count("predictions"))
    } == {13}
    answer, _ = send_inputs(organizer, task, {"b.csv": csv_of(more_rows(WIDE, n=4))})
    assert "The study is over. Create a new version of the task." in text_of(answer)


def test_inputs_of_paid_work_need_its_price_approved(maker, mia):  # noqa: F811
    allow(maker, "crowd.change_campaign")
    draft = _loaded(mia, who="invited", reward="0.08", tests_percent="0")
    approve = {"approve": "", "shown_cents": "160", "agreed": "on"}
    mia.post(at(draft, "start"), approve)
    settle()
    answer, add = send_inputs(mia, draft.task, {"b.csv": csv_of(more_rows(WIDE, n=1))})
    assert "Approve $0.16 and add 1 input" in answer.text
    maker.user_permissions.remove(Permission.objects.get(codename="change_submission"))
    assert "Only staff who may approve" in text_of(add())
    assert draft.task.instances.count() == 10
    allow(maker, "leaderboard.change_submission")
    assert add().status_code == 302
    own = Campaign.own.filter(pool=draft.task.slug)
    assert {one.budget_cents for one in own} == {88}
