"""Mechanical Turk for tests: our own server of its protocol, with people behind it."""

from django.db.models import Sum

from crowd.models import (
    Requester,
    RequesterAssignment,
    RequesterBonus,
    RequesterEntry,
    RequesterHIT,
    RequesterHITType,
)
from crowd.platforms.mturk import Account, MTurk
from crowd.requester.protocol import clock
from crowd.requester.services import access_keys, money, turns
from crowd.requester.services.settle import settle
from crowd.workers.services.invitations import register_worker
from genie.lib.errors import GenieError
from leaderboard.contracts.platforms import World

OTHER = "spent on other work"
FIELDS = (("answer-0-0", "0.75"),)


class TurkWorld(World):
    """One requester on our server, and the adapter pointed at it."""

    def __init__(self, url, staff, *, dollars=100, name="Genie", **account):
        self.requester = Requester.objects.create(name=name)
        self.key, self.secret = access_keys.create_key(self.requester, staff)
        self.staff = staff
        if dollars:
            self.deposit(dollars * 100)
        self.slept = []
        self.options = {
            "environment": "endpoint",
            "endpoint_url": url,
            "access_key_id": self.key.key_id,
            "secret_access_key": self.secret,
            "threads": 4,
            "timeout_seconds": 10.0,
            **account,
        }
        self.platform = self.fresh()

    def fresh(self, **changed):
        account = Account(**{**self.options, **changed})
        return MTurk(account, sleep=self.slept.append, now=lambda: clock.now())

    def deposit(self, cents, key="start"):
        access_keys.deposit(self.requester, cents, key=key, by=self.staff)

    def spend_all_but(self, cents):
        left = money.account(self.requester).available
        RequesterEntry.objects.create(
            requester=self.requester,
            key=f"{OTHER}:{left}",
            kind=RequesterEntry.Kind.DEPOSIT,
            amount_cents=cents - left,
            reason=OTHER,
            created_at=clock.now(),
        )
        money.book(self.requester.pk, cents - left)

    def worker(self, who):
        return register_worker(platform_worker_id=who)

    def worker_id(self, who):
        return turns.known_as(self.requester, self.worker(who)).customer_id

    def n_offers(self):
        return RequesterHITType.objects.filter(requester=self.requester).count()

    def n_posted(self):
        return RequesterHIT.objects.filter(requester=self.requester).count()

    def answer(self, ref, key, who, fields=FIELDS):
        return self.do(ref.hit_ids[key], who, fields)

    def do(self, hit_id, who, fields=FIELDS):
        hit = RequesterHIT.objects.get(entity_id=hit_id)
        try:
            assignment = turns.accept(hit, self.worker(who))
        except GenieError:
            return None
        turns.submit(assignment, self.worker(who), fields)
        return assignment.entity_id

    def settle(self, now):
        settle(self.requester, now)

    def row(self, session):
        return RequesterAssignment.objects.get(entity_id=session)

    def status(self, session):
        return self.row(session).state.lower()

    def sessions(self):
        rows = RequesterAssignment.objects.filter(
            hit__requester=self.requester, submitted_at__isnull=False
        )
        return {row.entity_id: row.state.lower() for row in rows}

    def paid_cents(self, who):
        own = RequesterAssignment.objects.filter(
            hit__requester=self.requester, worker__worker=self.worker(who)
        )
        approved = own.filter(state=RequesterAssignment.State.APPROVED)
        rewards = approved.aggregate(n=Sum("hit__reward_cents"))["n"] or 0
        bonuses = RequesterBonus.objects.filter(assignment__in=own)
        return rewards + (bonuses.aggregate(n=Sum("amount_cents"))["n"] or 0)

    def charged_cents(self):
        taken = RequesterEntry.objects.filter(
            requester=self.requester, amount_cents__lt=0
        ).exclude(reason=OTHER)
        return -(taken.aggregate(n=Sum("amount_cents"))["n"] or 0)
