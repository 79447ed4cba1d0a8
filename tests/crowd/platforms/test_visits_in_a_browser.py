"""A visit by link in a real browser: by keyboard on a phone, light and dark."""

from django.contrib.auth import get_user_model
from django.urls import reverse

from crowd.models import PanelSource, Rating
from tests.browser import SLOW, overflows, picture, seen, violations, wait_for_hit  # noqa: F401
from tests.crowd.making import make_campaign

pytestmark = SLOW


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
    seen(page, "1-consent")
    page.get_by_role("button", name="I agree").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/instructions/**")
    page.goto(page.url.split("/work/")[0] + reverse("work:finished"))
    seen(page, "2-not-done")
    page.get_by_role("button", name="Continue").focus()
    page.keyboard.press("Enter")
    for n in (1, 2):
        wait_for_hit(page, n)
        page.keyboard.press("2")
        page.keyboard.press("Enter")
    page.wait_for_url("**/finished/")
    assert "DONE42" in page.inner_text("main")
    seen(page, "3-finished-phone")
    assert Rating.own.count() == 2

    late = open_page(f"{link}?id=8", width="desktop", scheme="dark")
    assert late.get_by_role("link", name="Go back").get_attribute("href") == (
        "https://class.example/bye"
    )
    seen(late, "4-no-work-dark")

    forgive = "400 (Bad Request)"
    wrong = open_page(link, width="phone", scheme="dark", forgive=forgive)
    assert "This link does not work" in wrong.inner_text("main")
    seen(wrong, "5-refused-dark")

    boss = get_user_model().objects.create_superuser("boss")
    admin = open_page(f"/admin/crowd/panelsource/{panel.pk}/change/", user=boss)
    picture(admin, "6-admin")
    assert f"{link}?id=…" in admin.inner_text("#content")
