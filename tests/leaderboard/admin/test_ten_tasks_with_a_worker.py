"""Ten tasks with a worker, each from the first page of the admin, and what they take."""

import lxml.html
import pytest
from django.contrib.admin.models import LogEntry

from crowd.models import Assignment, LedgerEntry, Message, QualificationGrant
from crowd.workers.services import exclusions, test_attempts
from quality.bans import services
from quality.models import Ban
from tests.factories import answer, make_evaluation, make_worker, signed_in

# Clicks and pages when each action had its own list: a Search, a tick and a choice from a
# menu are a click each. Bonuses were for visits of platforms only, and of the history there was a page, but no file.
BEFORE = {
    "find": (3, 3),
    "see why paused": (4, 4),
    "ban": (6, 6),
    "undo": (6, 6),
    "grant": (7, 4),
    "message": (6, 4),
    "reject": (8, 6),
    "bonus": (10, 8),
    "export": (4, 4),
    "block": (6, 4),
}


class Walk:
    """A person at a page: only what is on it can be pressed."""

    def __init__(self, user):
        self.client, self.clicks, self.pages = signed_in(user), 0, 0
        self.show(self.client.get("/admin/"))

    def show(self, answer):
        assert answer.status_code == 200
        self.answer, self.pages = answer, self.pages + 1
        if answer["Content-Type"].startswith("text/html"):
            self.page = lxml.html.fromstring(answer.text, base_url="http://testserver")

    def follow(self, text):
        [link] = self.page.xpath(f"//a[normalize-space()='{text}']")
        self.clicks += 1
        self.show(self.client.get(link.get("href")))

    def press(self, label, tick=None, choose=None, **typed):
        [button] = self.page.xpath(f"//form//button[normalize-space()='{label}']")
        form = next(button.iterancestors("form"))
        if tick:
            form.xpath(f".//input[@type='checkbox'][@value='{tick}']")[0].checked = True
        for name, value in (choose or {}).items():
            assert value in form.inputs[name].value_options
        form.fields.update(typed | (choose or {}))
        sent = dict(form.form_values())
        if name := button.get("name"):
            sent[name] = button.get("value")
        self.clicks += 1 + bool(tick) + len(choose or {})
        by = self.client.post if form.method == "POST" else self.client.get
        self.show(by(form.action, sent, follow=True))


@pytest.fixture
def worker(waiting):
    made = make_evaluation(waiting(state="ANNOTATING"))
    worker = make_worker(name="A3XYZ")
    for item in made.campaign.items.order_by("pk")[:3]:
        answer(item, worker)
    return worker


def walk(boss, worker, goal):
    """Do one of the ten from the first page; return what it took."""
    on = Walk(boss)
    on.pages = 0
    on.press("Find", q=worker.platform_worker_id)
    assert on.answer.context["original"] == worker
    reason = {"reason": "Seen by two."}
    work = Assignment.own.filter(worker=worker, state="SUBMITTED").first()
    if goal == "see why paused":
        assert "Paused on Tidy news since" in on.answer.text
    elif goal == "ban":
        on.press("Ban worker", **reason)
        assert Ban.in_force.get(worker=worker).reason == "Seen by two."
    elif goal == "undo":
        on.press("Lift the ban", **reason)
        assert not Ban.in_force.filter(worker=worker).exists()
    elif goal == "grant":
        on.press("Grant a qualification", choose={"name": "readers"})
        assert QualificationGrant.own.filter(worker=worker, name="readers").exists()
    elif goal == "message":
        on.press("Send a message", subject="Thanks", text="For all of it.")
        assert Message.own.get(worker=worker, kind="STAFF").subject == "Thanks"
    elif goal == "reject":
        on.press("Reject", tick=work.pk, **reason)
        work.refresh_from_db()
        assert (work.state, work.feedback) == ("REJECTED", "Seen by two.")
    elif goal == "bonus":
        for _ in range(2):  # the same bonus, however often it is sent
            on.pages, on.clicks = 1, 1
            on.press("Pay the bonus", tick=work.pk, amount="25", **reason)
        assert LedgerEntry.own.get(kind="BONUS").amount_cents == 25
    elif goal == "export":
        on.follow("Export the history")
        assert len(on.answer.json()["assignments"]) == 3
    elif goal == "block":
        on.press("Exclude here and on the platform", **reason)
        worker.refresh_from_db()
        assert worker.excluded
        assert LogEntry.objects.filter(object_id=worker.pk).exists()
    if goal != "export":
        # every step ends where it began
        assert on.answer.context["original"] == worker
    return on.clicks, on.pages


@pytest.mark.parametrize("goal", BEFORE)
def test_each_takes_at_most_half_of_before(superuser, worker, goal):
    if goal == "see why paused":
        exclusions.pause(worker, "tidy-news")
    elif goal == "undo":
        services.ban(worker, "tidy-news", by=superuser, reason="By mistake.")
    elif goal == "grant":
        test_attempts.grant_by_hand(make_worker(), "readers", by=superuser)
    clicks, pages = walk(superuser, worker, goal)
    most_clicks, most_pages = BEFORE[goal]
    assert (2 * clicks <= most_clicks, 2 * pages <= most_pages) == (True, True)
