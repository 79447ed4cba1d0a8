"""Our HIT page inside another site's frame, answered in a real browser and collected."""

import pytest
from django.urls import reverse

from crowd.models import Rating, RequesterHIT
from tests.browser import overflows, violations
from tests.crowd.making import hit_type
from tests.crowd.platforms.elsewhere import Elsewhere
from tests.crowd.requester.on_site import OnSite

pytestmark = pytest.mark.browser


def test_a_hit_of_ours_is_previewed_accepted_answered_and_collected(turk, open_page):
    wanda = OnSite()
    kind = hit_type(criteria={"overall": "It is right.", "fluent": "It reads well."})
    elsewhere = Elsewhere(turk, n=1, hit_type=kind)
    elsewhere.look()
    group = RequesterHIT.own.get().hit_type.group_id
    page = open_page(
        reverse("work:request", args=[group]),
        user=wanda.user,
        width="phone",
        scheme="dark",
        forgive="Unsafe attempt",
    )
    frame = page.frame_locator("#task")
    frame.get_by_text("This is a preview").wait_for()
    assert frame.get_by_role("button", name="Submit").is_disabled()
    page.get_by_role("button", name="Accept and work").click()
    frame = page.frame_locator("#task")
    send = frame.get_by_role("button", name="Submit")
    send.click(trial=True)
    assert violations(page) == []
    assert not overflows(page)
    frame.get_by_role("radio", name="Strongly agree").first.focus()
    page.keyboard.press("4")  # of the question that has the focus
    send.click()  # the other question is open still
    frame.get_by_role("radio", name="Strongly disagree").last.check()
    frame.get_by_text("Something is wrong with this HIT").click()
    frame.get_by_role("textbox").fill("The question is cut off … 日本")
    send.click()
    page.get_by_role("heading", name="Your answer is stored").wait_for()
    assert elsewhere.look() == 1
    values = dict(Rating.own.values_list("criterion", "value"))
    assert values == {"overall": 0.75, "fluent": 0.0}
    row = elsewhere.assignments().get()
    assert row.remark == "The question is cut off … 日本"
    assert row.active_seconds is not None
