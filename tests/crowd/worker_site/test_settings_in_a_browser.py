"""What the browser tells of itself, and names in the page's language."""

from django.urls import reverse

from crowd.models import Requirement
from tests.browser import SLOW, go
from tests.crowd.making import make_campaign

pytestmark = SLOW


def test_the_browser_tells_its_zone_once_and_names_countries(wim, open_page):
    from playwright.sync_api import expect

    campaign = make_campaign(1)
    Requirement.objects.create(campaign=campaign, kind="COUNTRY", countries="JP")
    page = open_page(reverse("work:instructions", args=["none"]), user=wim.user, forgive="404")  # fmt: skip
    told = page.context.new_cdp_session(page)
    told.send("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})
    with page.expect_response("**/settings/zone/") as answer:
        go(page, reverse("work:settings"))
    assert answer.value.status == 204
    go(page, reverse("work:settings"))
    expect(page.locator("#id_time_zone")).to_have_value("Asia/Tokyo")
    expect(page.locator("#zone")).to_have_count(0)
    page.locator("#id_country").select_option(label="Japan")
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    expect(page.locator("#id_country")).to_have_value("JP")
