"""Test, messages and appeal in a real browser: by keyboard, on a phone, for everybody."""

import pytest
from django.urls import reverse

from crowd.campaigns.services import review
from crowd.models import QualificationGrant
from crowd.workers.services import requirements
from quality.models import Appeal
from tests.browser import SLOW, seen, wait_for_hit
from tests.crowd.making import POOL, do_one, items, make_campaign
from tests.crowd.workers.qualifications.making import (
    NAME,
    drawn_test,
    right_answer,
    written_test,
)

pytestmark = SLOW
# the keys of "Strongly agree" and "Strongly disagree"
KEYS = {"1": "5", "0": "1"}


def press_button(page, label):
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.textContent.trim()")
        if focused == label:
            return page.keyboard.press("Enter")
    raise AssertionError(f"Tab does not reach {label!r}")


@pytest.mark.parametrize(("width", "scheme"), [("phone", "light"), ("desktop", "dark")])
def test_by_keyboard_through_test_messages_and_appeal(wim, open_page, width, scheme):
    make_campaign(1, of=items(1, "before-"))
    done = do_one(wim)
    review.reject(done.pk, None, "It was sent after one second.")
    drawn_test(2, n_tries=3, wait_hours=0, pass_percent=100)
    make_campaign(2, of=items(4, "b-")[2:])
    requirements.test_of_pool(POOL, NAME)
    how = f"{width}-{scheme}"
    page = open_page(reverse("work:home"), user=wim.user, width=width, scheme=scheme)
    seen(page, f"home-{how}")
    press_button(page, "Take the test")
    page.wait_for_selector("h1")
    seen(page, f"test-{how}")
    press_button(page, "Start the test")
    wait_for_hit(page, 1)
    seen(page, f"question-{how}")
    attempt = wim.test_attempts.get()
    rows = list(attempt.answers.select_related("question", "attempt__test__hit_type"))
    # The first answer survives a reload before it is sent.
    first = KEYS[right_answer(rows[0])["overall"]]
    page.keyboard.press(first)
    page.reload()
    assert page.locator("input:checked[type=radio]").count() == 1
    page.keyboard.press("Enter")
    wait_for_hit(page, 2)
    page.keyboard.press(KEYS[right_answer(rows[1])["overall"]])
    page.keyboard.press("Enter")
    page.wait_for_selector("text=You passed")
    seen(page, f"passed-{how}")
    assert QualificationGrant.own.get().worker == wim
    page.goto(page.url.split("/work/")[0] + reverse("work:messages"))
    seen(page, f"messages-{how}")
    press_button(page, "Appeal, or see the outcome")
    page.wait_for_selector("textarea")
    seen(page, f"appeal-{how}")
    page.keyboard.press("Tab")
    page.focus("textarea")
    page.keyboard.type("I had read the text before; the answer is right.")
    press_button(page, "Submit appeal")
    page.wait_for_selector("text=A person will review it")
    seen(page, f"appealed-{how}")
    assert Appeal.own.get().words.startswith("I had read")


def test_a_written_question_and_a_failed_try(wim, open_page):
    written_test(
        ("Which of the two sentences says the same?", ["The first one", "Neither"], 1),
        wait_hours=24,
    )
    page = open_page(reverse("work:test", args=[NAME]), user=wim.user, width="phone")
    press_button(page, "Start the test")
    wait_for_hit(page, 1)
    seen(page, "written-phone-light")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Not this time")
    seen(page, "failed-phone-light")
