"""Lists of the admin count no further than they must, and say so."""

import re
from itertools import product

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from crowd.hits.models import ELSEWHERE
from crowd.models import HIT, Assignment, Campaign, Item, Worker
from genie.lib import admin as lists
from tests.factories import (
    answer,
    make_evaluation,
    make_predictions,
    make_submission,
    make_task,
    make_team,
    make_user,
    make_worker,
    pay,
    signed_in,
)
from tests.steps import steps

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]
WORKERS = "admin:crowd_worker_changelist"


@pytest.fixture
def office():
    return signed_in(get_user_model().objects.create_superuser("boss"))


def text_of(response):
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", response.text))


def test_a_short_list_is_counted_to_the_end(office, without_decoys):
    make_worker()
    make_worker()
    assert "2 workers" in text_of(office.get(reverse(WORKERS)))
    make_worker()
    for column in range(1, 11):
        assert office.get(reverse(WORKERS), {"o": column}).status_code == 200


def test_imported_rows_are_hidden_unless_requested(office, without_decoys):
    mine = {"owner": make_user("mine"), "team": make_team("mine")}
    for name in ("here", "there"):
        task = make_task(name, imported=name == "there")
        make_evaluation(make_submission(task, **mine))
        make_worker(name=name)
    Campaign.objects.filter(pool="there").update(platform=ELSEWHERE)
    Worker.own.filter(platform_worker_id="there").update(platform=ELSEWHERE)
    names = ("crowd_worker", "crowd_campaign", "leaderboard_submission")
    for name, asked in product(names, ({}, {"imported": "only"}, {"imported": "too"})):
        page = office.get(reverse(f"admin:{name}_changelist"), asked)
        assert page.context["cl"].result_count == 1 + ("too" in asked.values()), name


def test_structures_are_shown_in_words():
    shown = lists.structure({"a": ["<b>", 1], "b": None, "c": ["x", "y"]})
    assert shown == (
        "<dl><dt>a</dt><dd><ul><li>&lt;b&gt;</li><li>1</li></ul></dd>"
        "<dt>b</dt><dd>–</dd><dt>c</dt><dd>x, y</dd></dl>"
    )


def test_a_long_list_says_that_there_are_more(office, monkeypatch):
    monkeypatch.setattr(lists, "COUNTED", 150)
    for _ in range(151):
        make_worker()
    page = text_of(office.get(reverse(WORKERS)))
    assert "Select all 150+ workers" in page
    assert office.get(reverse(WORKERS), {"p": 2}).status_code == 200
    asked = {"q": make_worker(name="Wanda").pseudonym[:-1]}
    assert "1 worker " in text_of(office.get(reverse(WORKERS), asked))


def test_long_lists_are_searched_field_by_field(office):
    maria = make_user("maria")
    made = make_submission(make_task(), team=make_team("Kestrel", maria), owner=maria)
    make_predictions(made)
    make_evaluation(made)
    items = list(Item.own.order_by("pk"))
    people = [make_worker(), make_worker()]
    work = [
        answer(items[0], people[0], remark="The text is cut off."),
        answer(items[1], people[0]),
        answer(items[0], people[1], remark="The rest is missing."),
    ]
    entry = pay(work[2], 9)

    def found(model, query):
        page = office.get(reverse(f"admin:crowd_{model}_changelist"), {"q": query})
        return {row.pk for row in page.context["cl"].result_list}

    first, second, third = (row.pk for row in work)
    assert found("assignment", people[0].pseudonym) == {first, second}
    assert found("assignment", people[0].pseudonym[2:8].upper()) == {first, second}
    assert found("assignment", "cut") == {first}
    assert found("assignment", f"the {people[1].pseudonym}") == {third}
    assert found("assignment", f"cut {people[1].pseudonym}") == set()
    assert found("assignment", str(second)) >= {second}
    assert found("assignment", "9" * 30) == found("assignment", "%") == set()
    assert found("hit", items[1].key) >= {items[1].hit_id}
    assert found("ledgerentry", people[1].pseudonym) == {entry.pk}
    assert found("ledgerentry", entry.idempotency_key) == {entry.pk}
    assert found("ledgerentry", people[0].pseudonym) == set()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite tells what it did")
def test_a_search_reads_no_more_where_there_is_more_work(office, monkeypatch):
    monkeypatch.setattr(lists, "FEW", 3)
    monkeypatch.setattr(lists, "COUNTED", 5)
    maria = make_user("maria")
    made = make_submission(make_task(), team=make_team("Kestrel", maria), owner=maria)
    make_predictions(made)
    make_evaluation(made)
    item = Item.own.earliest("pk")
    somebody = make_worker()
    answer(item, somebody, remark="Cut off.")
    list_of = admin.site.get_model_admin(Assignment)

    def search():
        for query in (somebody.pseudonym, "cut"):
            rows, _ = list_of.get_search_results(None, Assignment.own, query)
            assert rows.get().worker == somebody
        # what all names have: the newest rows that have it
        rows, _ = list_of.get_search_results(
            None, Assignment.own, somebody.pseudonym[:2]
        )
        assert set(rows) == set(Assignment.own.order_by("-pk")[:5])

    now = timezone.now()

    def others_work(n):
        other = make_worker()
        hits = HIT.objects.bulk_create(
            HIT(campaign=item.campaign, input=item.hit.input, position=100 * n + k)
            for k in range(n)
        )
        Assignment.objects.bulk_create(
            Assignment(
                hit=hit,
                worker=other,
                state="APPROVED",
                reward_cents=9,
                accepted_at=now,
                deadline_at=now,
            )
            for hit in hits
        )

    for n in range(2, 7):
        others_work(n)
    few = steps(search)
    others_work(1_000)
    assert steps(search) < few + 20
