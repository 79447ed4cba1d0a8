from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.campaigns.services.work import next_assignment
from crowd.models import Campaign
from tests.crowd.making import make_campaign, make_worker

State = Campaign.State


def state_of(campaign):
    campaign.refresh_from_db()
    return campaign.state


def test_a_campaign_starts_when_its_time_has_come_and_not_before():
    soon = timezone.now() + timedelta(hours=1)
    campaign = make_campaign(1, starts_at=soon)
    assert state_of(campaign) == State.SCHEDULED
    assert next_assignment(make_worker()) is None
    assert run.start_due(soon - timedelta(seconds=1)) == 0
    assert run.start_due(soon) == 1
    assert run.start_due(soon) == 0
    assert state_of(campaign) == State.RUNNING
    campaign = make_campaign(1, starts_at=timezone.now() + timedelta(days=1))
    assert run.start(campaign)
    assert not run.start(campaign)
    assert state_of(campaign) == State.RUNNING


def test_a_paused_campaign_hands_out_nothing_until_it_is_resumed(sam):
    campaign, worker = make_campaign(1), make_worker()
    assert run.pause(campaign.pk, sam)
    assert next_assignment(worker) is None
    assert run.resume(campaign.pk, sam)
    assert state_of(campaign) == State.RUNNING
    assert next_assignment(worker) is not None
    campaign = make_campaign(1, starts_at=timezone.now() + timedelta(days=1))
    assert run.pause(campaign.pk, sam)
    assert run.start_due(timezone.now() + timedelta(days=2)) == 0
    assert run.resume(campaign.pk, sam)
    assert state_of(campaign) == State.SCHEDULED


def test_stopping_is_for_good(sam):
    campaign = make_campaign(1)
    assert run.stop(campaign.pk, by=sam, reason="The texts were the wrong ones.")
    assert not run.stop(campaign.pk, by=sam, reason="again")
    assert not run.resume(campaign.pk, sam)
    assert not run.pause(campaign.pk, sam)
    run.complete(campaign.pk)
    assert state_of(campaign) == State.STOPPED
    assert campaign.notice == "Stopped: The texts were the wrong ones."
    assert campaign.completed_at is not None


@pytest.mark.every_engine
def test_completing_twice_keeps_the_first_time():
    campaign = make_campaign(1)
    assert run.complete(campaign.pk)
    campaign.refresh_from_db()
    first = campaign.completed_at
    assert not run.complete(campaign.pk)
    assert state_of(campaign) == State.COMPLETE
    assert campaign.completed_at == first


def test_the_admins_log_says_what_people_did_and_nothing_of_programs(sam):
    campaign = make_campaign(1)
    run.pause(campaign.pk, sam)
    run.resume(campaign.pk, sam)
    run.resume(campaign.pk, sam)  # changes nothing, so it leaves no line
    run.stop(campaign.pk, by=sam, reason="Enough.")
    run.complete(campaign.pk)
    said = LogEntry.objects.order_by("pk").values_list("change_message", "user")
    assert list(said) == [
        ("Paused.", sam.pk),
        ("Resumed.", sam.pk),
        ("Stopped: Enough.", sam.pk),
    ]
