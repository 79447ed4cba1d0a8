"""Several HITs on one page: taken, sent in, changed and given back together."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.services import claim, undo, work
from crowd.campaigns.services import claim as pages
from crowd.elsewhere.services import visits
from crowd.models import HIT, Assignment, LedgerEntry, Rating
from crowd.worker_site import hit
from crowd.workers.services import exclusions
from genie.lib.errors import GenieError
from tests.crowd.making import (
    POOL,
    answers_for,
    hit_type,
    item,
    items,
    make_campaign,
    make_worker,
)

State = Assignment.State
JSON = {"Accept": "application/json"}


def several(n=3, **form):
    return hit_type(form={"items_per_page": n, **form})


def states(page):
    rows = Assignment.objects.filter(pk__in=[one.pk for one in page])
    return set(rows.values_list("state", flat=True))


def sent(page, **fields):
    work.submit_page(page, [answers_for(one) for one in page], **fields)


def at(page):
    return reverse("work:hit", args=[pages.first_on(page).pk])


@pytest.mark.every_engine
def test_a_page_has_as_many_hits_as_its_campaign_says_and_no_input_twice(wim):
    make_campaign(7, hit_type=several(3))
    page = pages.next_page(wim)
    assert [one.pk for one in pages.next_page(wim)] == [one.pk for one in page]
    assert len(page) == 3 == len({one.hit.input_id for one in page})
    assert len({one.deadline_at for one in page}) == 1
    assert page[0].deadline_at - page[0].accepted_at == timedelta(seconds=3 * 1800)
    sent(page)
    assert [len(pages.next_page(wim)), work.give_back(pages.next_page(wim)[0])] == [
        3,
        True,
    ]
    assert len(pages.next_page(wim)) == 1  # what is left


def test_campaigns_that_are_open_together_take_turns_on_a_page(wim):
    made = [
        make_campaign(of=items(9, str(n)), hit_type=several(2), exposure="campaign")
        for n in (1, 2)
    ]
    page = pages.next_page(wim)
    assert {one.hit.campaign_id for one in page} == {campaign.pk for campaign in made}


def test_the_share_of_one_worker_holds_on_a_page_too(wim):
    campaign = make_campaign(6, hit_type=several(4))
    type(campaign).own.update(hits_per_worker=2)
    assert len(pages.next_page(wim)) == 2


def test_another_kind_of_work_does_not_come_onto_the_page(wim):
    make_campaign(1, hit_type=several(4))
    make_campaign(
        of=items(3, "b"), exposure="campaign", hit_type=several(4, undo_seconds=5)
    )
    page = pages.next_page(wim)
    assert len({one.hit.campaign.hit_type_id for one in page}) == 1


def test_who_comes_from_elsewhere_gets_one_hit(wim):
    campaign = make_campaign(4, hit_type=several(3), platform="panel")
    assert claim.per_page(campaign) == 1
    assert visits.claim is claim  # hands out by `claim`, which makes no pages
    for wrong in (0, 11, "3"):
        with pytest.raises(GenieError, match="items_per_page must be"):
            make_campaign(1, hit_type=several(wrong))


def document(n_documents, n_parts):
    """Parts of documents, mixed up as files may have them."""
    return [
        replace(one, data={**one.data, "of_document": f"doc-{d}", "part": p})
        for p in reversed(range(n_parts))
        for d in range(n_documents)
        for one in [item(f"{d}.{p}")]
    ]


@pytest.mark.every_engine
def test_parts_of_a_document_come_together_in_their_order(wim):
    make_campaign(of=document(3, 4), hit_type=several(3, page_by="id"))
    seen = []
    while page := pages.next_page(wim):
        seen.append([one.hit.items.get().key for one in page])
        sent(page)
    assert sorted(map(len, seen)) == [1, 1, 1, 3, 3, 3]
    for first, rest in zip(seen[::2], seen[1::2], strict=True):
        (name,) = {key.partition(".")[0] for key in first + rest}
        assert first + rest == [f"{name}.{p}" for p in range(4)]


def test_who_began_a_document_goes_on_with_it_and_others_begin_another(wim):
    make_campaign(of=document(3, 4), hit_type=several(2, page_by="id"))
    other = make_worker()
    seen = {wim: [], other: []}
    for who in (wim, other) * 2:
        page = pages.next_page(who)
        seen[who] += [one.hit.items.get().key for one in page]
        sent(page)
    for keys in seen.values():
        name = keys[0].partition(".")[0]
        assert keys == [f"{name}.{p}" for p in range(4)]


def test_what_stands_before_a_page_is_shown_and_nothing_that_tells_a_test(site, wim):
    parts = document(1, 6)
    # what another item shows of the first part, be it a test question or not
    twin = {**parts[-1].data, "prediction": "Another text."}
    parts.append(replace(parts[-1], key="twin", data=twin))
    make_campaign(of=parts, hit_type=several(2, page_by="id"))
    first = pages.next_page(wim)
    assert "Earlier in this document" not in site.get(at(first)).text
    sent(first)
    said = {one.hit.items.get().data["prediction"] for one in first}
    page = pages.next_page(wim)
    shown = hit.before(page)
    assert len(shown) == 2
    assert {text for part in shown for text in part.outputs} == said
    assert "Earlier in this document" in site.get(at(page)).text
    sent(page)
    other = make_worker()
    sent(
        pages.next_page(other)
    )  # the first part, as the other item has it, and the fifth
    shown = hit.before(pages.next_page(other))
    assert [len(part.outputs) for part in shown] == [1, 0, 0, 0, 1]


def test_a_page_is_stored_whole_each_hit_paid_and_its_time_shared_out(wim):
    make_campaign(of=[item("a"), item("b", text="word " * 95)], hit_type=several(2))
    page = pages.next_page(wim)
    Assignment.own.update(accepted_at=timezone.now() - timedelta(seconds=200))
    page = pages.page_of(page[0])
    sent(page, active_seconds=100, remark="Both are odd.")
    sent(page)  # the same again changes nothing
    assert states(page) == {State.SUBMITTED}
    rows = Assignment.own.order_by("hit__items__key")
    assert [round(row.active_seconds) for row in rows] == [7, 93]
    assert sorted(row.remark for row in rows) == ["", "Both are odd."]
    assert sum(LedgerEntry.own.values_list("amount_cents", flat=True)) == 20


def test_answers_to_a_page_that_has_grown_are_not_taken_for_others(site, wim):
    make_campaign(3, hit_type=several(3))
    work.next_assignment(wim)
    early = claim.open_assignment(wim, timezone.now())
    field = f'name="hits" value="{early.pk}"'
    assert field in site.get(at([early])).text
    claim.fill(wim, early, 3)
    sent = {"hits": str(early.pk), "answer-0-0": "1"}
    refused = site.post(at([early]), sent, headers=JSON)
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("This page has new items")
    again = site.post(at([early]), sent)
    assert "Item 3 of 3" in again.text
    assert field not in again.text


def test_nothing_is_added_to_a_page_that_was_sent_in(wim):
    make_campaign(3, hit_type=several(3))
    first = work.next_assignment(wim)
    work.submit(first, answers_for(first))
    claim.fill(wim, first, 3)
    assert HIT.own.filter(n_available=1).count() == 2


def test_a_page_is_given_back_expires_and_ends_whole(wim):
    make_campaign(9, hit_type=several(3))
    ends = [
        lambda page: work.give_back(page[-1]),
        lambda page: work.release_overdue(page[0].deadline_at + timedelta(hours=1)),
        lambda page: exclusions.exclude(wim, POOL, "No more."),
    ]
    for end in ends:
        page = pages.next_page(wim)
        assert len(page) == 3
        end(page)
        assert State.ACCEPTED not in states(page)
        assert not HIT.own.filter(n_available=0).exists()
        with pytest.raises(GenieError):
            sent(page)


def test_undo_is_of_the_whole_page(site, wim):
    make_campaign(5, hit_type=several(2))
    page = pages.next_page(wim)
    told = site.post(at(page), {"answer-0-0": "1", "answer-1-0": "0"}, headers=JSON)
    assert told.json()["page"].count('class="item"') == 2
    assert f"{at(page)}change/" in told.json()["page"]
    assert "<b>3–4</b> of 5" in told.json()["page"]
    shown = site.get(f"{at(page)}change/").text
    assert shown.count(" checked>") == 2 + 1  # and the box for keys
    site.post(f"{at(page)}change/", {"answer-0-0": "0", "answer-1-0": "0.25"})
    assert [one.ratings.get().value for one in page] == [0.0, 0.25]
    # all or nothing here, too
    assert site.post(f"{at(page)}change/", {"answer-0-0": "1"}).status_code == 422
    assert [one.ratings.get().value for one in page] == [0.0, 0.25]


def test_any_hit_of_a_page_leads_to_it_and_it_is_stored_whole(site, wim):
    make_campaign(3, hit_type=several(3))
    page = pages.next_page(wim)
    for one in page:
        text = site.get(reverse("work:hit", args=[one.pk])).text
        assert "Item 3 of 3" in text
        assert f'action="{at(page)}"' in text
        assert "pays <b>$0.30</b>" in text
    with pytest.raises(GenieError, match="This page has new items"):
        sent([one for one in page if one.page_id is None])
    assert states(page) == {State.ACCEPTED}
    some = {"answer-0-0": "1", "answer-2-0": "0"}
    response = site.post(at(page), some, headers=JSON)
    assert response.status_code == 422
    assert response.json()["error"] == (
        "Item 2 of 3: please answer “This is a reasonable answer.”"
    )
    assert not Rating.own.exists()
    assert states(page) == {State.ACCEPTED}
    assert site.post(at(page), {**some, "answer-1-0": "7"}).status_code == 422
    assert states(page) == {State.ACCEPTED}


def test_who_is_paused_for_an_answer_cannot_take_it_back(site, wim):
    make_campaign(2)
    done = work.next_assignment(wim)
    work.submit(done, answers_for(done, "0"))
    exclusions.pause(wim, POOL)
    with pytest.raises(GenieError, match="can no longer be changed"):
        undo.change_page([done], [answers_for(done, "1")])
    assert not undo.may_begin(done)
    home = site.post(reverse("work:next"), {"pool": POOL}, follow=True).text
    assert "Change your last answer" not in home
