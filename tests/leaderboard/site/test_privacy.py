"""The site says what it keeps of whom, and for how long."""

from django.urls import reverse


def test_the_page_is_one_click_from_everywhere_and_says_for_how_long(client, settings):
    settings.GENIE = {
        **settings.GENIE,
        "KEEP_DAYS": {**settings.GENIE["KEEP_DAYS"], "signals": 41, "reads": 43},
    }
    address = reverse("leaderboard:privacy")
    assert f'href="{address}"' in client.get("/").text
    text = client.get(address).text
    assert "for 41 days" in text
    assert "log of staff access to private outputs: 43 days" in text
