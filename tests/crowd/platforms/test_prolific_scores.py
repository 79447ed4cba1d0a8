"""From a submission to its score, with people who come from Prolific by its links."""

import re

import pytest
from django.db.models import Sum
from django.urls import reverse

from crowd.models import (
    Assignment,
    Campaign,
    ExternalCampaign,
    LedgerEntry,
    OutwardCall,
)
from leaderboard.models import Score, Submission
from tests.crowd.platforms.test_prolific_campaign import Person
from tests.crowd.platforms.test_same_scores import (
    CARELESS,
    approved,
    look,
    opinion,
    settle,
)

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def visit(there, number, campaign):
    """Let one person do a place, carefully or not; False where there is no place."""
    who = CARELESS if number % 4 == 3 else "Wanda"
    person = Person(there, str(number))
    if person.come(campaign) is None:
        return False
    person.browser.post(reverse("work:consent", args=[campaign.pool_id]))
    page = person.browser.post(reverse("work:next"), {"pool": campaign.pool_id})
    while found := re.search(r"/hit/(\d+)/", page["Location"]):
        hit = Assignment.objects.get(pk=found[1]).hit
        raw = opinion(who, hit)
        page = person.browser.post(page["Location"], {"answer-0-0": raw})
    person.go_back()
    return True


def test_a_submission_is_judged_by_people_from_prolific(there, settings):
    settings.GENIE = {**settings.GENIE, "PROLIFIC_ITEMS_PER_PLACE": 8}
    there.balance = 1_000_000
    approved("prolific")
    look()
    campaign = Campaign.own.get()
    assert ExternalCampaign.own.get().trouble == ""
    for number in range(40):
        if Submission.own.get().state == "PUBLISHED":
            break
        visit(there, number, campaign)
        look()
        settle()
    assert Submission.own.get().state == "PUBLISHED"
    score = Score.own.get()
    assert score.low <= score.mean <= score.high
    assert 35 < score.mean < 65  # half of the answers are right
    assert not OutwardCall.own.exclude(state="DONE").exists()
    Assignment.own.filter(state="SUBMITTED").update(state="APPROVED")
    look()
    done = LedgerEntry.own.filter(state="DONE").aggregate(n=Sum("amount_cents"))
    assert done["n"] == there.rewards + there.fees > 0
    assert set(there.paid.values()) == {there.studies[study(campaign)]["reward"]}
    assert len(there.studies) == 1


def study(campaign):
    return ExternalCampaign.objects.get(campaign=campaign).platform_id
