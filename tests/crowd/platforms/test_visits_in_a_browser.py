"""A visit by link in a real browser: by keyboard on a phone, light and dark."""

import os
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from crowd.models import Answer, PanelSource
from tests.browser import overflows, violations, wait_for_hit
from tests.crowd.making import make_campaign

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]
# Set it to a folder to look at the pages afterwards.
SCREENSHOTS = os.environ.get("GENIE_SCREENSHOTS")


def look_at(page, name):
    if SCREENSHOTS:
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)
    assert not overflows(page)
    assert violations(page) == []


def test_a_visit_from_the_link_to_the_way_back_by_keyboard(open_page):
    panel = PanelSource.objects.create(
        name="class",
        title="Our class",
        worker_parameter="id",
        completed="DONE42",
        screened_out="https://class.example/bye",
    )
    campaign = make_campaign(2, platform="panel")
    link = reverse("work:panel", args=["class", campaign.pk])

    page = open_page(f"{link}?id=7", width="phone")
    look_at(page, "1-consent")
    page.get_by_role("button", name="I agree").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/instructions/**")
    page.goto(page.url.split("/work/")[0] + reverse("work:finished"))
    look_at(page, "2-not-done")
    page.get_by_role("button", name="Continue").focus()
    page.keyboard.press("Enter")
    for n in (1, 2):
        wait_for_hit(page, n)
        page.keyboard.press("2")
        page.keyboard.press("Enter")
    page.wait_for_url("**/finished/")
    assert "DONE42" in page.inner_text("main")
    look_at(page, "3-finished-phone")
    assert Answer.objects.count() == 2

    late = open_page(f"{link}?id=8", width="desktop", scheme="dark")
    assert late.get_by_role("link", name="Go back").get_attribute("href") == (
        "https://class.example/bye"
    )
    look_at(late, "4-no-work-dark")

    forgive = "400 (Bad Request)"
    wrong = open_page(link, width="phone", scheme="dark", forgive=forgive)
    assert "This link does not work" in wrong.inner_text("main")
    look_at(wrong, "5-refused-dark")

    boss = get_user_model().objects.create_superuser("boss")
    admin = open_page(f"/admin/crowd/panelsource/{panel.pk}/change/", user=boss)
    if SCREENSHOTS:
        admin.screenshot(path=Path(SCREENSHOTS) / "6-admin.png", full_page=True)
    assert f"{link}?id=…" in admin.inner_text("#content")
