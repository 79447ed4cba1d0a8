"""Taps on a phone, with several long items on a page: real touch events at real places."""

import pytest
from django.urls import reverse

from crowd.campaigns.services import claim
from crowd.models import Rating
from tests.browser import SLOW, wait_until
from tests.crowd.making import hit_type, item, make_campaign, make_worker
from tests.factories import make_user

pytestmark = SLOW
TEXT = "The bakery on the corner sold bread, rolls and cake on that rainy morning. " * 6
N = 5
LEFT = "!document.querySelector('#hit[data-first]')"
POINTS = {"scale": "slider-100", "template": "general-judgement"}


@pytest.fixture(params=[{}, POINTS], ids=["choices", "points"])
def phone(request, open_page):
    wim = make_worker(user=make_user("wim"))
    kind = hit_type(**request.param, form={"items_per_page": N})
    make_campaign(of=[item(f"{n}", text=TEXT) for n in range(2 * N)], hit_type=kind)
    first = claim.next_page(wim)[0]
    path = reverse("work:hit", args=[first.pk])
    page = open_page(path, user=wim.user, width="phone", touch=True)
    wait_until(page, "document.readyState === 'complete'")
    page.evaluate("document.getElementById('hit').dataset.first = '1'")
    return page


def tap(page, part):
    """Touch the middle of a part once, wherever it is by now."""
    part.scroll_into_view_if_needed()
    page.wait_for_timeout(50)
    box = part.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.touchscreen.tap(x, y)
    page.wait_for_timeout(350)  # as long as two taps are taken for a double one


def answer(page, one, digits):
    """Answer an item: a tap on a choice, or a tap into the field and digits."""
    choices = one.locator(".answer")
    if choices.count():
        tap(page, choices.nth(1))
    else:
        tap(page, one.locator("input[type=number]"))
        page.keyboard.type(digits)


def test_the_first_tap_on_submit_sends_the_page(phone):
    for one in phone.locator(".item").all():
        answer(phone, one, "70")
    tap(phone, phone.locator("#send"))
    wait_until(phone, LEFT)
    assert Rating.own.count() == N


def test_each_tap_answers_the_item_under_the_finger(phone):
    items = phone.locator(".item").all()
    for number in (0, 1, 3, 2, 0, 4):
        answer(phone, items[number], "5")
        assert [is_answered(one) for one in items][number], number
    tap(phone, phone.locator("#send"))
    wait_until(phone, LEFT)
    assert Rating.own.count() == N


def is_answered(one):
    return bool(
        one.locator(":checked").count()
        or (
            (number := one.locator("input[type=number]")).count()
            and number.input_value()
        )
    )
