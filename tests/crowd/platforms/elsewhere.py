"""A campaign of ours on another platform, and what both sides' books say of it."""

from django.db.models import Sum
from django.utils import timezone

from crowd.campaigns.services import review
from crowd.elsewhere.services import sync
from crowd.jobs import PAGES
from crowd.models import (
    Assignment,
    Campaign,
    ExternalCampaign,
    ExternalSession,
    LedgerEntry,
    OutwardCall,
    Rating,
)
from tests.crowd.making import make_campaign

REASON = "Each answer was given in under a second, always the first choice."


class Elsewhere:
    """One campaign on Mechanical Turk; `turk` is the other side of the counter."""

    def __init__(self, turk, n=2, **fields):
        self.turk = turk
        self.campaign = make_campaign(n, platform="mturk", **fields)

    def look(self, platform=None, now=None):
        self.campaign.refresh_from_db()
        campaign = Campaign.objects.select_related("hit_type").get(pk=self.campaign.pk)
        return sync.look(
            campaign, platform or self.turk.fresh(), PAGES, now or timezone.now()
        )

    @property
    def place(self):
        return ExternalCampaign.objects.get(campaign=self.campaign)

    def hit_ids(self):
        hits = self.campaign.hits.order_by("position")
        return [hit.platform_hit_id for hit in hits]

    def answer_all(self, who="Wanda", raw="0.75"):
        fields = (("answer-0-0", raw), ("active_seconds", "0.0"))
        done = [self.turk.do(name, who, fields) for name in self.hit_ids() if name]
        return [session for session in done if session]

    def get_answers(self):
        """Offer the HITs, let one person do them, and take the answers in."""
        self.look()
        sessions = self.answer_all()
        self.look()
        return sessions

    def approve_all(self):
        waiting = Assignment.objects.filter(
            hit__campaign=self.campaign, state=Assignment.State.SUBMITTED
        )
        return review.approve(waiting.values_list("pk", flat=True))

    def reject(self, session, reason=REASON):
        work = ExternalSession.objects.get(session_id=session).work.get()
        assert review.reject(work.assignment_id, None, reason)

    def assignments(self):
        return Assignment.objects.filter(hit__campaign=self.campaign)

    def answers(self):
        return Rating.objects.filter(item__campaign=self.campaign)

    def calls(self, kind):
        return OutwardCall.own.filter(campaign=self.campaign, kind=kind)

    def done_cents(self):
        done = LedgerEntry.objects.filter(
            campaign=self.campaign, state=LedgerEntry.State.DONE
        )
        return done.aggregate(n=Sum("amount_cents"))["n"] or 0

    def check_books(self):
        """Hold our books against the server's: HITs, answers, money."""
        assert self.turk.n_posted() == self.calls("POST").filter(state="DONE").count()
        assert self.done_cents() == self.turk.charged_cents()
        sent_in = self.turk.sessions()
        ours = ExternalSession.objects.filter(campaign=self.campaign)
        assert set(ours.values_list("session_id", flat=True)) == set(sent_in)
        assert ours.count() == len(sent_in)
        for session in ours:
            assert session.status == sent_in[session.session_id], session
        assert self.assignments().count() == len(sent_in)
