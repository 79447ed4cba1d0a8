"""Notices that an earlier version wrote are understood, and so they can be cleared."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from crowd.campaigns.services import reissue, reservations
from crowd.campaigns.services import staff_notices as watch
from crowd.models import Campaign
from tests.crowd.making import make_campaign

migration = import_module("crowd.migrations.0020_reword_stored_notices")


def test_every_notice_that_is_searched_for_is_reworded_as_it_is_written_now():
    assert set(migration.NOTICES.values()) == {
        watch.STARVED,
        watch.UNDERPAID,
        watch.TOO_FAST,
        reservations.PASSED_ON,
    }


@pytest.mark.django_db
def test_old_sentences_give_way_and_others_stay():
    old = next(iter(migration.NOTICES))
    campaign = make_campaign()
    Campaign.objects.filter(pk=campaign.pk).update(notice=f"{old} Something else.")

    migration.reword(apps, None)

    campaign.refresh_from_db()
    assert campaign.notice == f"{watch.STARVED} Something else."


@pytest.mark.django_db
def test_what_an_earlier_version_said_of_missing_money_goes_when_there_is_some():
    campaign = make_campaign()
    Campaign.objects.filter(pk=campaign.pk).update(
        notice="3 answers that do not count were not asked for again: the campaign's "
        "budget of $1,200.50 is used up. Something else."
    )
    migration.reword(apps, None)
    campaign.refresh_from_db()
    assert reissue.without_shortage(campaign.notice) == "Something else."
