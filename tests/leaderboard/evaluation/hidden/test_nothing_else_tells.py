"""Keys, order, time, bytes, pages and API are the same for test questions and others."""

import json
import re

import numpy as np
import pytest
from django.urls import reverse
from scipy.stats import mannwhitneyu

from crowd.campaigns.services import work
from crowd.models import Campaign, Item
from crowd.workers.services import invitations
from leaderboard.models import HumanEvaluation, Submission
from leaderboard.releases.make import make
from quality.models import TestCheck, TestQuestion
from tests.factories import make_user, make_worker, set_state
from tests.kept import kept
from tests.leaderboard.evaluation.hidden.test_texts import say_something, speak

UNLIKELY = 0.01


@pytest.fixture
def made(task_with, launched):
    def make():
        task = task_with(n=160, sample_size=120)
        say_something(task)
        return task, launched(task, said=speak)[1]

    return kept("a campaign that speaks", make)


@pytest.fixture
def task(made):
    return made[0]


@pytest.fixture
def campaign(made):
    return made[1]


def both(campaign):
    tests = TestQuestion.own.filter(campaign=campaign).values("item")
    items = Item.objects.filter(campaign=campaign).select_related("hit")
    return list(items.filter(pk__in=tests)), list(items.exclude(pk__in=tests))


def assert_alike(numbers_of, campaign):
    tests, others = ([numbers_of(item) for item in side] for side in both(campaign))
    assert mannwhitneyu(tests, others).pvalue > UNLIKELY


def test_neither_place_nor_number_nor_key_tells(campaign):
    assert_alike(lambda item: item.hit.position, campaign)
    assert_alike(lambda item: item.pk, campaign)
    assert_alike(lambda item: item.hit_id, campaign)
    assert_alike(lambda item: int(item.key[:12], 16), campaign)
    tests, others = both(campaign)
    assert len({len(item.key) for item in [*tests, *others]}) == 1


def test_items_have_the_same_shape(campaign):
    def shape(item):
        data = item.data
        return (
            list(data),
            [sorted(field) for field in data["fields"]],
        )

    shapes = {json.dumps(shape(item)) for side in both(campaign) for item in side}
    assert len(shapes) == 1


def test_the_page_says_the_same_around_every_text(campaign, task, client):
    user = make_user("wren")
    worker = make_worker(user=user)
    invitations.give_consent(worker, task.slug)
    client.force_login(user)
    tests, others = both(campaign)
    skeletons = set()
    # the first page has no answer before it that could be undone
    for i, item in enumerate([others[3], *tests[:3], *others[:3]]):
        campaign.hits.update(n_available=0)
        campaign.hits.filter(pk=item.hit_id).update(n_available=1)
        assignment = work.next_assignment(worker)
        page = reverse("work:hit", args=[assignment.pk])
        html = client.get(page).text
        assert item.data["prediction"] in html
        texts = [item.data["prediction"], *(f["text"] for f in item.data["fields"])]
        for text in texts:
            html = html.replace(text, "TEXT")
        if i:
            skeletons.add(_without_names(html, item))
        # who fails test questions would get no other
        wrong = TestQuestion.own.filter(item=item, polarity="NEGATIVE").exists()
        work.submit(assignment, {item.key: {"overall": "0" if wrong else "1"}})
    assert len(skeletons) == 1


def _without_names(html, item):
    html = html.replace(item.key, "KEY")
    return re.sub(r"\d+|csrf\w+\" value=\"\w+\"|nonce=\"[^\"]+\"", "#", html)


def test_strangers_cannot_look_up_real_outputs(campaign, task, client, admin_client):
    submission = Submission.own.get()
    page = f"/submissions/{submission.pk}/"
    text = submission.predictions.first().text
    html = client.get(page).text
    assert text not in html
    assert "Shown once people have rated them." in html
    assert text in admin_client.get(page).text


def test_releases_tell_nothing_while_people_are_asked(campaign, task, tmp_path):
    made = make(task, tmp_path / "release", texts=True)
    written = "".join(path.read_text("utf-8") for path in made.folder.iterdir())
    for item in both(campaign)[0]:
        assert item.key not in written
    for test_question in TestQuestion.own.filter(kind__startswith="edit"):
        assert test_question.item.data["prediction"] not in written
    for row in task.instances.all()[:5]:
        assert row.predictions.first().text not in written


def test_the_evidence_page_has_numbers_only(campaign, task, client):
    submission = Submission.own.get()
    set_state(Submission.objects.filter(pk=submission.pk), "PUBLISHED")
    check = TestCheck.objects.create(
        n_wanted=48,
        n_found=48,
        auc=0.523,
        low=0.44,
        high=0.61,
        best_feature="letters",
        best_feature_auc=0.55,
        verdict="Test questions do not stand out.",
    )
    HumanEvaluation.own.update(test_check=check)
    html = client.get(f"/tasks/{task.slug}/methods/").text
    assert "How well are test questions hidden?" in html
    # on a phone the table is wider than the page: it scrolls in a frame
    assert 'class="scroll"' in html.split("How well are test questions hidden?")[1]
    assert "0.52" in html
    for item in both(campaign)[0]:
        assert item.data["prediction"] not in html


def test_which_instances_are_tests_follows_no_order_of_the_task(task, launched):
    places = []
    for name in ("Gull", "Tern", "Wren"):
        _, campaign = launched(task, name)
        keys = {item.content_key for item in both(campaign)[0]}
        assert len(keys) > 20
        places += [item.hit.position / campaign.hits.count() for item in both(campaign)[0]]  # fmt: skip
    assert Campaign.own.count() == 4  # with Kite's
    assert 0.4 < np.mean(places) < 0.6
