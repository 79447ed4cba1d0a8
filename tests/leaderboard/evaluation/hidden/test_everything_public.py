"""Who collects all that is public, while a campaign runs and after one, cannot tell tests."""

from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from crowd.models import Assignment, Campaign, Item, Rating
from crowd.workers.services import invitations
from leaderboard.demo import systems_of
from leaderboard.designs.base import content_key
from leaderboard.evaluation import run
from leaderboard.evaluation.services.hidden.offers import seen_of
from leaderboard.models import Submission
from leaderboard.releases.make import make
from leaderboard.tasks.services import load
from quality.models import TestQuestion
from quality.test_questions.separability.features import FEATURES, page_features
from quality.test_questions.separability.measure import LIMIT, separability
from tests.factories import make_team, make_user, make_worker, set_state
from tests.leaderboard.evaluation.hidden.conftest import demo_system

SLUG = "demo-translation"
# what a script has besides the texts: what serves them, and what is said of them elsewhere
BESIDE = (
    *("item", "HIT", "place", "key", "page", "headers", "queries", "shape"),
    *("text on pages", "input on pages", "text in release", "words in release"),
)


@pytest.fixture
def task(db):
    return load.load_task(SLUG).task


@pytest.fixture
def launched(task):
    """Send a system's outputs out; staff have confirmed those that are right."""
    user = make_user("nina")
    team = make_team("Heron", user)

    def launch(system):
        ready = {"state": "APPROVED", "approved_cents": 100_000, "start_now": True}
        submission = demo_system(task, system, team=team, owner=user, **ready)
        run.step(submission.human_evaluation_id)
        submission.refresh_from_db()
        assert submission.state == "ANNOTATING", submission.human_evaluation.failure
        return submission, Campaign.own.latest("pk")

    return launch


@pytest.fixture
def release(task, launched, tmp_path):
    """Have a first system judged and on the board, and release what people said of it."""
    submission, campaign = launched(systems_of(SLUG)[-1])
    worker, now = make_worker(name="ann"), timezone.now()
    for item in campaign.items.all():
        given = assignment_of(item, worker, state="APPROVED", submitted_at=now)
        criterion = next(iter(campaign.hit_type.criteria))
        Rating.objects.create(
            assignment=given, item=item, criterion=criterion, value=0.5
        )
    Campaign.own.update(state="COMPLETE", completed_at=now)
    set_state(Submission.objects.filter(pk=submission.pk), "PUBLISHED")
    folder = make(task, tmp_path / "release", texts=True).folder
    return "".join(path.read_text("utf-8") for path in sorted(folder.iterdir()))


def assignment_of(item, worker, **fields):
    now = timezone.now()
    return Assignment.objects.create(
        hit_id=item.hit_id,
        worker=worker,
        reward_cents=5,
        accepted_at=now,
        deadline_at=now + timedelta(hours=1),
        **fields,
    )


def public_pages(task):
    stranger = Client()
    addresses = [
        f"/tasks/{task.slug}/",
        f"/tasks/{task.slug}/methods/",
        f"/tasks/{task.slug}/methods/",
        f"/tasks/{task.slug}/metrics/",
        f"/api/v1/tasks/{task.slug}/",
        f"/api/v1/tasks/{task.slug}/evidence/",
        f"/api/v1/submissions/?task={task.slug}",
        *(f"/submissions/{one.pk}/" for one in task.submissions.all()),
        *(f"/api/v1/submissions/{one.pk}/" for one in task.submissions.all()),
    ]
    answers = [stranger.get(address) for address in addresses]
    return "".join(answer.text for answer in answers if answer.status_code == 200)


def a_worker(task, name):
    worker = make_worker(name=name, user=make_user(name))
    invitations.give_consent(worker, task.slug)
    return worker


def as_served(client, worker, item):
    assignment = assignment_of(item, worker)
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(reverse("work:hit", args=[assignment.pk]))
    assert answer.status_code == 200
    html, data, number = answer.text, item.data, str(assignment.pk)
    for text in (data["prediction"], *(field["text"] for field in data["fields"])):
        html = html.replace(escape(text), "")
    assignment.delete()
    headers = str(sorted(answer.headers.items()))
    return (
        len(html.replace(number, "")),
        len(headers.replace(number, "")),
        len(captured),
    )


def seen_by_a_script(task, campaign, pages, release):
    """Describe tests, then half of a campaign's other items, by all that is public."""
    asked = set(
        TestQuestion.own.filter(campaign=campaign).values_list("item", flat=True)
    )
    items = sorted(
        Item.objects.filter(campaign=campaign).select_related("hit"),
        key=lambda item: (item.pk not in asked, item.pk),
    )
    n_items, items = len(items), [*items[: len(asked)], *items[len(asked) :: 2]]
    row_of = {content_key(SLUG, row.instance_id): row for row in task.instances.all()}
    seen = seen_of(task, [], list(row_of.values()))
    worker, client = a_worker(task, f"reader{campaign.pk}"), Client()
    client.force_login(worker.user)
    released = set(release.split())
    beside, shown = [], []
    for item in items:
        text, source = item.data["prediction"], item.data["fields"][0]["text"]
        words = text.split()
        beside.append(
            [
                *(item.pk, item.hit_id, item.hit.position, int(item.key[:12], 16)),
                *as_served(client, worker, item),
                len(str(sorted(item.data))) + item.hit.max_assignments,
                *(pages.count(text), pages.count(source), release.count(text)),
                sum(word in released for word in words) / len(words),
            ]
        )
        row = row_of[item.content_key]
        place = item.hit.position / n_items
        shown.append([seen.surface(row, text, key=item.key, position=place)])
    found = np.array(beside, dtype=float)
    # ids are counted from the campaign's first
    found[:, :2] -= found[:, :2].min(axis=0)
    groups = [row_of[item.content_key].position for item in items]
    return np.hstack([page_features(shown)[0], found]), groups, len(asked)


def test_all_that_is_public_tells_no_test_from_a_real_item(task, launched, release):
    campaigns = [launched(system)[1] for system in systems_of(SLUG)[:2]]
    pages = public_pages(task)
    tests, real, groups = [], [], ([], [])
    for number, campaign in enumerate(campaigns):
        rows, of, n = seen_by_a_script(task, campaign, pages, release)
        of = [100 * number + group for group in of]
        for side, part in enumerate((slice(n), slice(n, None))):
            (tests, real)[side].extend(rows[part])
            groups[side].extend(of[part])
    names = (*FEATURES, *BESIDE)
    together = {"groups": [*groups[0], *groups[1]], "names": names}
    tests, real = np.array(tests), np.array(real)
    found = separability(tests, real, 1, **together)
    assert len(tests) == 16
    assert not found.stands_out, found.verdict
    assert found.estimate <= LIMIT or found.low <= 0.5, found.verdict
    # the same script sees it when the pages of tests are longer
    tests[:, names.index("page")] += 100
    assert separability(tests, real, 1, **together).stands_out
