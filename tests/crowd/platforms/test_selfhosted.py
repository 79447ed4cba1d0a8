"""Our own site keeps the contract: the services do what other platforms are told to do."""

from __future__ import annotations

from dataclasses import fields

import pytest
from django.contrib.auth import get_user_model

from crowd.models import Assignment, Campaign, Worker
from crowd.platforms.base import Capabilities, Result, all_platforms, get
from crowd.platforms.selfhosted import SelfHosted
from crowd.pricing import quote
from crowd.services import bonus, consent, exclude, review, run
from crowd.services.invite import register_worker
from crowd.services.work import next_assignment
from genie.lib.errors import GenieError
from tests.crowd.making import make_campaign, send_in
from tests.crowd.platforms.contract import PlatformContract, World

POOL = "weather"


class OurSite(SelfHosted):
    """The adapter, and beside it what the services do at the same moment."""

    def __init__(self, campaign, staff):
        self.campaign = campaign
        self.staff = staff

    def close(self, ref):
        run.pause(self.campaign.pk, self.staff)
        return super().close(ref)

    def resume(self, ref):
        run.resume(self.campaign.pk, self.staff)
        return super().resume(ref)

    def decide(self, decisions):
        for one in decisions:
            row = Assignment.objects.get(pk=one.session_id)
            if one.decision == "approve":
                review.approve([row.pk], self.staff)
            else:
                review.reject(row.pk, self.staff, one.message)
        return super().decide(decisions)

    def bonus(self, bonuses):
        for one in bonuses:
            entry = bonus.give(
                int(one.session_id),
                one.amount_cents,
                key=one.key,
                reason=one.reason,
                by=self.staff,
            )
            yield Result(one.key, "done", str(entry.pk))

    def exclude(self, key, worker_id, pool, reason):
        exclude.exclude(self._worker(worker_id), pool, reason)
        return super().exclude(key, worker_id, pool, reason)

    def include(self, key, worker_id, pool):
        exclude.include(self._worker(worker_id), pool)
        return super().include(key, worker_id, pool)

    def _worker(self, name):
        return Worker.objects.get(platform_worker_id=name)


class OurWorld(World):
    def __init__(self):
        staff = get_user_model().objects.create_superuser("petra", password="-")
        self.row = make_campaign(2, pool=POOL)
        self.platform = OurSite(self.row, staff)

    def n_offers(self):
        return Campaign.objects.count()

    def n_posted(self):
        return self.row.hits.count()

    def answer(self, ref, key, who):
        worker = register_worker(platform_worker_id=who)
        consent.give(worker, POOL)
        found = next_assignment(worker)
        return None if found is None else str(send_in(found).pk)

    def status(self, session):
        return Assignment.objects.get(pk=session).state.lower()

    def paid_cents(self, who):
        """Staff pay by hand what is planned and approved; nothing is sent by itself."""
        return 0

    def charged_cents(self):
        return 0


@pytest.mark.django_db
class TestSelfHosted(PlatformContract):
    @pytest.fixture
    def world(self):
        return OurWorld()

    def test_work_comes_back_with_who_did_it(self, world, ref):
        """What people do is written down as they do it; there is nothing to fetch."""
        session = self.session(world, ref)
        row = Assignment.objects.get(pk=session)
        assert row.worker.platform_worker_id == "Wanda"
        assert (row.state, row.answers.count()) == ("SUBMITTED", 1)
        assert list(world.platform.sync(ref, None)) == []


def test_an_unknown_platform_is_refused_with_the_known_ones():
    with pytest.raises(GenieError, match="selfhosted"):
        get("nowhere")


def test_who_signed_in_is_who_arrives():
    assert get("selfhosted").identity({"worker_id": "user-7"}).worker_id == "user-7"


def test_the_quote_is_the_pricing_rooms():
    asked = {"reward_cents": 10, "n_items": 5, "n_test_questions": 1}
    assert get("selfhosted").quote(**asked) == quote(platform="selfhosted", **asked)


@pytest.mark.parametrize("slug", sorted(all_platforms()))
def test_a_platform_says_what_it_can(slug):
    kind = all_platforms()[slug]
    assert kind.title
    assert isinstance(kind.capabilities, Capabilities)
    for one in fields(Capabilities):
        assert getattr(kind.capabilities, one.name) is not None
