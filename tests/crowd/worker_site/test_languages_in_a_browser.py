"""The pages of workers and submitters in each language, on the narrowest phone."""

import pytest
from django.conf import settings
from django.urls import reverse

from crowd.campaigns.services import review
from crowd.campaigns.services.work import next_assignment
from crowd.workers.services import exclusions
from quality.bans.services import MESSAGE
from tests.browser import go, overflows, picture
from tests.crowd.making import POOL, do_one, hit_type, items, make_campaign, make_worker
from tests.factories import make_task, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# in the language of the work, where it is not in the reader's
OF_THE_WORK = {"hit", "consent", "instructions", "over"}


@pytest.fixture
def pages():
    """Fill a site for somebody who works and submits; give the addresses by name."""
    wim = make_worker(user=make_user("wim"))
    make_campaign(5, hit_type=hit_type(title="Judge the answer to a question"))
    make_campaign(2, of=items(2, "o-"), pool="other")
    done = [do_one(wim) for _ in range(3)]
    review.approve([done[0].pk])
    review.reject(done[1].pk, None, "All three answers came within a second.")
    exclusions.exclude(wim, "third", MESSAGE)
    make_task()
    return wim.user, {
        "hit": reverse("work:hit", args=[next_assignment(wim).pk]),
        "work": reverse("work:home"),
        "consent": reverse("work:consent", args=["other"]),
        "instructions": reverse("work:instructions", args=[POOL]),
        "earnings": reverse("work:earnings"),
        "payment": reverse("work:payment"),
        "settings": reverse("work:settings"),
        "messages": reverse("work:messages"),
        "over": reverse("work:hit", args=[done[1].pk]),
        "home": reverse("leaderboard:home"),
        "account": reverse("accounts:home"),
        "submit": reverse("leaderboard:submit", args=["tidy-news"]),
    }


def test_every_language_fits_a_phone(open_page, live_server, pages):
    user, addresses = pages
    page = open_page(reverse("login"), user=user, width="phone")
    for language, _ in settings.LANGUAGES[1:]:
        cookie = {"name": settings.LANGUAGE_COOKIE_NAME, "value": language}
        page.context.add_cookies([{**cookie, "url": live_server.url}])
        for name, path in addresses.items():
            go(page, path)
            shown = page.locator("html").get_attribute("lang")
            assert shown == language or (name in OF_THE_WORK and shown == "en"), name
            assert not overflows(page), (language, name)
            picture(page, f"{name}-{language}")
