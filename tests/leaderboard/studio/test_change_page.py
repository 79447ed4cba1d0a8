"""A loaded task is changed on its page; what would mix scores makes a new version."""

import pytest
from django.contrib.admin.models import LogEntry
from django.test import RequestFactory
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.services.work import next_assignment
from crowd.models import Assignment, Budget, Campaign, Commitment
from crowd.workers.selectors.eligible import consent_text, consented_pools
from crowd.workers.services import invitations
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.boards.views.exports import public_table
from leaderboard.evaluation.run import advance
from leaderboard.models import Draft, Submission, Task
from leaderboard.releases.report import report
from leaderboard.studio.forms import CONSENT
from leaderboard.studio.services import edit, keep
from leaderboard.tasks.services.load import versions_of
from tests.cast import allow
from tests.crowd.making import do_all, do_one, make_worker
from tests.factories import make_user
from tests.leaderboard.studio.test_new import csv_of
from tests.leaderboard.studio.test_pages import _loaded, asked, at, text

TALKS = {
    "chat": [
        '[{""role"": ""user"", ""content"": ""What is this about? ' + str(n) + '""}]'
        for n in range(4)
    ],
    "ada": [f"**Hi**, this is the {n}" for n in range(4)],
    "bob": [f"It was not that {n}" for n in range(4)],
}


@pytest.fixture
def edits(maker, mia):
    allow(maker, "leaderboard.change_task", "crowd.change_budget")
    return mia


def page_of(task):
    return reverse("leaderboard:studio-task", args=[task.slug])


def said(**changes):
    return {
        "save": "",
        "title": "My answers",
        "raters": "these",
        "reward": "0.00",
        "submissions": "3",
        "days": "7",
        "consent": CONSENT,
        "judges_show": "on",
        **changes,
    }


def test_what_is_changed_is_kept_with_who_when_and_why(edits, maker):
    task = _loaded(edits, who="invited", reward="0").task
    changes = {
        "title": "Better words <b>",
        "reward": "0.11",
        "budget": "12.50",
        "submissions": "9",
        "instructions": "Read **all**.",
        "consent": "You agree to <i>this</i>.",
        "because": "The board asked for it.",
    }
    assert edits.post(page_of(task), said(**changes)).status_code == 302
    task.refresh_from_db()
    config = task.configuration
    assert (task.title, config.human.reward_cents) == ("Better words <b>", 11)
    assert config.quota.submissions == 9
    assert Budget.objects.get(pool=task.slug).limit_cents == 1250
    revision = task.revisions.last()
    found = (revision.number, revision.by, revision.because)
    assert found == (2, maker, "The board asked for it.")
    human = {f"human.{name}" for name in ("reward_cents", "instructions", "consent")}
    more = {"title", "quota.submissions", "budget.cents"}
    assert {*revision.changes} == human | more
    page = text(edits.get(page_of(task)))
    assert "Better words &lt;b&gt;" in page
    assert "The board asked for it." in page
    assert "<strong>all</strong>" in page
    assert "<i>this" not in page
    # the same once more is no change
    edits.post(page_of(task), said(**changes))
    assert task.revisions.count() == 2


def test_workers_agree_to_the_text_that_stands_now(edits):
    draft = _loaded(edits)
    edits.post(page_of(draft.task), said(consent="First wording."))
    edits.post(at(draft, "start"), {"approve": "", "shown_cents": "0", "agreed": "on"})
    advance()
    jobs.drain()
    pool = draft.task.slug
    assert Campaign.objects.filter(pool=pool).exists()
    assert "First wording." in consent_text(pool).html
    worker = make_worker()
    invitations.give_consent(worker, pool)
    assert consented_pools(worker, [pool])


def test_what_cannot_be_used_is_refused_with_a_sentence(edits):
    task = _loaded(edits).task
    answer = edits.post(page_of(task), said(reward="-1", title=""))
    assert answer.status_code == 400
    assert task.revisions.count() == 1
    task.refresh_from_db()
    assert task.title == "My answers"


def test_the_budget_is_changed_by_whom_it_is_entrusted_to(maker, mia):
    allow(maker, "leaderboard.change_task")
    task = _loaded(mia).task
    mia.post(page_of(task), said(budget="99"))
    assert not Budget.objects.filter(pool=task.slug).exists()
    assert 'name="budget"' not in text(mia.get(page_of(task)))


def test_a_new_version_begins_with_what_there_is(edits):
    draft = _loaded(edits, {"talk.csv": csv_of(TALKS)}, question="How good is it?")
    first = draft.task
    answer = edits.post(page_of(first), {"version": ""})
    second = Draft.objects.get(slug="my-answers-2")
    assert answer["Location"] == at(second, "files")
    found = keep.read(second)
    assert found.problems == []
    before = keep.read(draft).material
    assert found.material == before
    ask, earlier = keep.ask_of(second), keep.ask_of(draft)
    assert ask.version_of == "my-answers"
    assert (ask.way, ask.criteria) == (earlier.way, earlier.criteria)
    edits.post(at(second, "ask"), asked(question_1="How short is it?"))
    edits.post(at(second, "start"), {"load": ""})
    task = Task.objects.get(slug="my-answers-2")
    assert (task.title, task.version_of) == ("My answers, version 2", "my-answers")
    assert Submission.objects.filter(task=task).count() == 2
    assert versions_of(first) == versions_of(task) == [first, task]
    for here, there in ((first, task), (task, first)):
        board = text(edits.get(reverse("leaderboard:board", args=[here.slug])))
        assert f'href="{reverse("leaderboard:board", args=[there.slug])}"' in board
        assert page_of(there) in text(edits.get(page_of(here)))
    edits.post(page_of(task), {"version": ""})
    assert Draft.objects.get(slug="my-answers-3").title == "My answers, version 3"


def test_versions_that_name_each_other_are_listed_once():
    made = [
        Task.objects.create(slug=slug, title=slug, sample_seed=1, version_of=before)
        for slug, before in (("a", "c"), ("b", "a"), ("c", "b"), ("d", "elsewhere"))
    ]
    assert {one.slug for one in versions_of(made[0])} == {"a", "b", "c"}
    assert versions_of(made[3]) == []


def test_who_may_only_add_tasks_changes_none(mia):
    task = _loaded(mia).task
    assert mia.get(page_of(task)).status_code == 404
    assert mia.post(page_of(task), {"version": ""}).status_code == 404
    user = make_user("ed", is_staff=True)
    allow(user, "leaderboard.change_task")
    mia.force_login(user)
    mia.post(page_of(task), {"version": ""})
    assert Draft.objects.count() == 1


def test_of_an_imported_task_only_its_words_change(edits):
    task = _loaded(edits).task
    budgets = Budget.own.count()
    Task.objects.filter(pk=task.pk).update(imported=True)
    task.refresh_from_db()
    page = edits.get(page_of(task))
    assert 'name="summary"' in page.text
    for name in ("budget", "reward", "consent", "submissions", "version"):
        assert f'name="{name}"' not in page.text, name
    words = {"save": "", "title": "Elsewhere", "summary": "Told.", "budget": "50"}
    answer = edits.post(page_of(task), words)
    assert answer.status_code == 302, answer.context["form"].errors
    task.refresh_from_db()
    assert (task.title, Budget.own.count()) == ("Elsewhere", budgets)
    judges = task.configuration.judges
    assert (judges.show, judges.rank) == (False, False)
    edits.post(page_of(task), {**words, "judges_show": "on", "judges_rank": "on"})
    assert Task.objects.get(pk=task.pk).configuration.judges.rank
    for one in ({"budget_cents": 100}, {"said": {"reward_cents": 5}}):
        wanted = {"said": {}, "by": make_user(f"{[*one]}"), **one}
        with pytest.raises(GenieError, match="has imported ratings"):
            edit.change(task, wanted.pop("said"), **wanted)
    metrics = edits.get(f"/tasks/{task.slug}/metrics/").text
    assert "No metric values." in metrics
    assert reverse("leaderboard:metric-hand-in", args=[task.slug]) in metrics


def started(draft, client):
    client.post(at(draft, "start"), {"approve": "", "shown_cents": "0", "agreed": "on"})
    advance()
    jobs.drain()
    return Campaign.objects.filter(pool=draft.task.slug).order_by("pk")


def shown_to(worker) -> str:
    """Return the question, the label and the instructions that the worker reads."""
    page = next_assignment(worker)
    asked_now = page.hit.campaign.hit_type
    labels = [field["label"] for field in page.hit.items.get().data["fields"]]
    return f"{[*asked_now.criteria.values()]} {labels} {asked_now.form['instructions']}"


def test_words_are_corrected_until_the_first_rating(edits):
    draft = _loaded(edits, question="The sorce is corect.")
    started(draft, edits)
    worker = make_worker(draft.task.slug)
    words = {
        "criteria": "The source is correct.",
        "labels": "Question asked",
        "instructions": "Read it all.",
    }
    assert "The sorce is corect." in text(edits.get(page_of(draft.task)))
    two = {**words, "criteria": "One.\r\nTwo."}
    assert edits.post(page_of(draft.task), said(**two)).status_code == 400
    assert edits.post(page_of(draft.task), said(**words)).status_code == 302
    read = "['The source is correct.'] ['Question asked'] Read it all."
    assert shown_to(worker) == read


def test_after_the_first_rating_staff_say_that_only_the_wording_changes(edits, maker):
    draft = _loaded(edits, question="The sorce is corect.", ratings="1")
    started(draft, edits)
    worker = make_worker(draft.task.slug)
    do_one(worker, raw="1")
    words = {"criteria": "The source is correct.", "instructions": "Read it all."}
    answer = edits.post(page_of(draft.task), said(**words))
    assert "create a new version" in text(answer)
    assert answer.status_code == 400
    # other changes need no such word
    assert edits.post(page_of(draft.task), said(title="New")).status_code == 302
    answer = edits.post(page_of(draft.task), said(title="New", **words, reworded="on"))
    assert answer.status_code == 302
    assert "The source is correct." in shown_to(worker)
    do_all(worker, raw="1")
    advance()
    jobs.drain()
    advance()
    jobs.drain()
    request = RequestFactory().get("/")
    request.user = maker
    methods = report(public_table(request, Task.objects.get(pk=draft.task.pk))).methods
    day = f"{timezone.now():%Y-%m-%d}"
    assert (
        f"After 1 answer, on {day}, the wording “The sorce is corect.” was changed to “The "
        "source is correct.”." in methods
    )
    assert "was changed to “Read it all.”." in methods


@pytest.mark.parametrize("people", [{}, {"reward": "0.08"}])
def test_a_study_without_ratings_is_deleted(edits, maker, people):
    draft = _loaded(edits, ratings="1", **people)
    edits.post(
        at(draft, "start"), {"approve": "", "shown_cents": "160", "agreed": "on"}
    )
    campaigns, slug = started(draft, edits), draft.task.slug
    assert campaigns.count() == 2
    worker = make_worker(slug)
    opened = next_assignment(worker)
    edits.post(page_of(draft.task), {"delete": ""})
    assert Task.objects.filter(slug=slug).exists()
    answer = edits.post(page_of(draft.task), {"delete": "", "agreed": "on"})
    assert answer["Location"] == reverse("leaderboard:studio-new")
    assert not Task.objects.filter(slug=slug).exists()
    assert not campaigns.all().exists()
    assert not Submission.own.exists()
    assert Commitment.own.filter(settled_at=None).count() == 0
    entry = LogEntry.objects.filter(user=maker).latest("pk")
    assert (entry.object_repr, entry.is_deletion()) == ("My answers", True)
    # the draft can be changed and loaded again
    edits.post(at(draft, "start"), {"load": ""})
    jobs.drain()
    assert Submission.own.count() == 2
    assert not Assignment.objects.filter(pk=opened.pk).exists()
    draft.refresh_from_db()
    edits.post(
        at(draft, "start"), {"approve": "", "shown_cents": "160", "agreed": "on"}
    )
    started(draft, edits)
    assert do_one(worker, raw="1")
    edits.post(page_of(draft.task), {"delete": "", "agreed": "on"})
    assert Task.objects.filter(slug=slug).exists()
