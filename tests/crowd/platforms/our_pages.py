"""The worlds of platforms whose people work on our pages: the services beside the adapter."""

from django.contrib.auth import get_user_model
from django.db.models import Sum

from crowd.campaigns.services import review, run
from crowd.campaigns.services.work import next_assignment
from crowd.models import Assignment, Campaign, LedgerEntry, Worker
from crowd.money.services import bonuses as bonus
from crowd.platforms.base import Result
from crowd.workers.services import exclusions as exclude
from crowd.workers.services import invitations
from crowd.workers.services.invitations import register_worker
from leaderboard.contracts.platforms import World
from tests.crowd.making import hit_type, make_campaign, send_in

POOL = "weather"


class WithServices:
    """Beside an adapter without a server: what the services do at the same moment."""

    def serve(self, campaign, staff):
        self.campaign = campaign
        self.staff = staff
        return self

    def close(self, ref):
        run.pause(self.campaign.pk, self.staff)
        return super().close(ref)

    def resume(self, ref):
        run.resume(self.campaign.pk, self.staff)
        return super().resume(ref)

    def decide(self, decisions):
        told = super().decide(decisions)
        return [
            self._decided(one, said) for one, said in zip(decisions, told, strict=True)
        ]

    def _decided(self, one, said):
        pk = int(one.session_id)
        if one.decision == "approve":
            review.approve([pk], self.staff)
            wanted = "APPROVED"
        else:
            review.reject(pk, self.staff, one.message)
            wanted = "REJECTED"
        if Assignment.objects.get(pk=pk).state == wanted:
            return said
        return Result(one.key, "refused", code="decided-otherwise")

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
    """Our tables are the other side: what they hold is what is so."""

    def __init__(self, platform):
        staff = get_user_model().objects.create_superuser("petra", password="-")
        kind = hit_type(reward_cents=40)
        self.row = make_campaign(2, pool=POOL, hit_type=kind)
        self.platform = platform.serve(self.row, staff)

    def n_offers(self):
        return Campaign.own.count()

    def n_posted(self):
        return self.row.hits.count()

    def answer(self, ref, key, who):
        worker = register_worker(platform_worker_id=self.worker_id(who))
        invitations.give_consent(worker, POOL)
        found = next_assignment(worker)
        return None if found is None else str(send_in(found).pk)

    def status(self, session):
        return Assignment.objects.get(pk=session).state.lower()

    def paid_cents(self, who):
        mine = {"assignment__worker__platform_worker_id": self.worker_id(who)}
        return self._cents(**mine)

    def charged_cents(self):
        return self._cents()

    def _cents(self, **which):
        rows = LedgerEntry.own.filter(**which).exclude(state="CANCELLED")
        return rows.aggregate(cents=Sum("amount_cents"))["cents"] or 0
