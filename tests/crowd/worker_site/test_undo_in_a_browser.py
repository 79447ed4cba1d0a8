"""Undo, the instructions over the page, and several items on it, in a real browser."""

import pytest
from django.urls import reverse

from crowd.campaigns.services.work import next_assignment
from crowd.models import Assignment, Item, Rating
from tests.browser import SLOW, overflows, violations, wait_for_hit
from tests.crowd.making import hit_type, item, make_campaign

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = SLOW


def test_the_last_answer_is_taken_back_by_a_key_and_none_is_lost(wim, open_page):
    # a slow machine must not make the offer run out
    make_campaign(3, hit_type=hit_type(form={"undo_seconds": 60}))
    first = next_assignment(wim)
    page = open_page(reverse("work:hit", args=[first.pk]), user=wim.user, width="phone")
    wait_for_hit(page, 1)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    wait_for_hit(page, 2)
    expect(page.locator("#undo")).to_be_visible()
    assert violations(page) == []
    assert not overflows(page)
    page.keyboard.press("3")  # the next one is begun
    page.keyboard.press("?")
    guide = page.get_by_role("dialog", name="Instructions")
    expect(guide.get_by_role("heading", name="Examples")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(guide).to_be_hidden()
    page.keyboard.press("u")
    page.wait_for_url("**/change/")
    expect(page.get_by_role("radio", name="Strongly disagree")).to_be_checked()
    assert violations(page) == []
    page.get_by_text("Strongly agree").click()
    page.get_by_role("button", name="Submit").click()
    wait_for_hit(page, 2)
    expect(page.get_by_role("radio", name="Neutral")).to_be_checked()
    assert Rating.own.get().value == 1.0
    assert Assignment.own.get(state="SUBMITTED").pk == first.pk


def test_keys_go_through_several_items_of_a_page(wim, open_page):
    long = "A sentence that fills a line or two of the page. " * 20
    campaign = make_campaign(
        of=[item("a", text=long), item("b")],
        hit_type=hit_type(criteria={"overall": "Is it good?", "short": "Is it short?"}),
    )
    of_both = campaign.hits.first()
    Item.own.update(hit=of_both)
    campaign.hits.exclude(pk=of_both.pk).delete()
    at = reverse("work:hit", args=[next_assignment(wim).pk])
    page = open_page(at, user=wim.user)
    wait_for_hit(page, 1)
    for key in ("5", "4"):
        page.keyboard.press(key)
    done, following = page.locator(".item").all()
    expect(done).to_have_class("item done")
    expect(following).to_be_in_viewport()
    assert violations(page) == []
    for key in ("2", "1", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(f"**{reverse('work:home')}")
    assert list(Rating.own.order_by("pk").values_list("value", flat=True)) == [
        *(1.0, 0.75),
        *(0.25, 0.0),
    ]
