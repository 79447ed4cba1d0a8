"""What we know of work that is offered on somebody else's platform."""

from django.db import models
from django.db.models import Exists, OuterRef

from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import HIT, Campaign
from crowd.money.models import ExchangeRate, LedgerEntry
from crowd.workers.models.worker import Worker


class ExternalCampaign(models.Model):
    """A campaign's place on a platform: how it is called there, how it goes."""

    campaign = models.OneToOneField(
        Campaign, on_delete=models.PROTECT, related_name="external"
    )
    environment = models.CharField(max_length=32, blank=True)
    platform_id = models.CharField(max_length=100, blank=True)
    # the platform's own page about it, for staff
    url = models.URLField(max_length=500, blank=True)
    # whether workers can take the work there, as far as we have told the platform
    is_open = models.BooleanField(default=False)
    # where our server hands the items out: how many of them a place holds, and what the
    # platform takes for one place
    place_size = models.PositiveIntegerField(default=1)
    place_fee_cents = models.PositiveIntegerField(default=0)
    # what a place costs there with its fee, in cents of the account's currency; and what
    # that currency was worth: none for US dollars
    place_cost = models.PositiveIntegerField(null=True, blank=True)
    rate = models.ForeignKey(
        ExchangeRate, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    # [human.study] of the task; see crowd/platforms/demands.py
    terms = models.JSONField(default=dict, blank=True)
    # what the platform was told to require of people: those are the ones it sends
    attested = models.JSONField(default=list, blank=True)
    synced_at = models.DateTimeField(null=True, blank=True)
    # one process at a time tells the platform and asks it
    busy_until = models.DateTimeField(null=True, blank=True)
    balance_cents = models.BigIntegerField(null=True, blank=True)
    trouble = models.CharField(
        max_length=500,
        blank=True,
        help_text="The last error; cleared on success.",
    )

    class Meta:
        ordering = ["-pk"]
        verbose_name = "external campaign"
        verbose_name_plural = "external campaigns"

    def __str__(self) -> str:
        return f"{self.campaign} on {self.campaign.platform}"


class OutwardCall(models.Model):
    """One effect outside: written down before it is sent, and completed, never edited.

    The token that makes sending it twice harmless is made from `key`.
    """

    class Kind(models.TextChoices):
        PUBLISH = "PUBLISH", "publish the study"
        POST = "POST", "post a HIT"
        EXTEND = "EXTEND", "request more workers"
        RETYPE = "RETYPE", "change the reward of a HIT"
        CLOSE = "CLOSE", "close to workers"
        RESUME = "RESUME", "reopen to workers"
        DECIDE = "DECIDE", "approve or reject"
        BONUS = "BONUS", "pay a bonus"
        EXCLUDE = "EXCLUDE", "exclude a worker"
        INCLUDE = "INCLUDE", "readmit a worker"

    class State(models.TextChoices):
        PLANNED = "PLANNED", "planned"
        SENDING = "SENDING", "being sent"
        DONE = "DONE", "done"
        FAILED = "FAILED", "failed"

    key = models.CharField(max_length=100, unique=True)
    campaign = models.ForeignKey(
        Campaign, on_delete=models.PROTECT, related_name="outward_calls"
    )
    kind = models.CharField(max_length=16, choices=Kind.choices)
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.PLANNED
    )
    hit = models.ForeignKey(
        HIT, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    session = models.ForeignKey(
        "crowd.ExternalSession",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="outward_calls",
    )
    worker = models.ForeignKey(
        Worker, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    entry = models.ForeignKey(
        LedgerEntry, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    # places that are posted or added
    n = models.PositiveIntegerField(default=0)
    # what it costs at most, fee included
    amount_cents = models.PositiveIntegerField(default=0)
    # approve, reject or override; the reason that is given
    wish = models.CharField(max_length=16, blank=True)
    message = models.TextField(max_length=1024, blank=True)
    platform_id = models.CharField(max_length=100, blank=True)
    code = models.CharField(max_length=32, blank=True)
    trouble = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    first_sent_at = models.DateTimeField(null=True, blank=True)
    last_sent_at = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["campaign", "kind", "state"])]

    def __str__(self) -> str:
        return self.key


class ExternalSession(models.Model):
    """One worker's turn on a platform; what they answered in it are assignments."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.PROTECT, related_name="sessions"
    )
    worker = models.ForeignKey(
        Worker, on_delete=models.PROTECT, related_name="sessions"
    )
    session_id = models.CharField(max_length=100)
    # as the platform told us last: started, submitted, approved, rejected, ...
    status = models.CharField(max_length=16)
    accepted_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approval_at = models.DateTimeField(null=True, blank=True)
    # the answer as it came
    raw = models.TextField(blank=True)
    problem = models.CharField(max_length=300, blank=True)
    # requirements that who sent them says they meet
    attested = models.JSONField(default=list, blank=True)
    # whether the platform knows the visit: None if it could not be asked, False if it
    # denied it; only vouched work reaches scores
    is_vouched = models.BooleanField("vouched for", null=True, default=True)
    # what came in of it is in assignments
    collected_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            # One session id can be seen with two workers: given back, taken again.
            models.UniqueConstraint(
                fields=["campaign", "session_id", "worker"], name="session_once"
            )
        ]

    def __str__(self) -> str:
        return self.session_id


class SessionWork(models.Model):
    """Which of our assignments was done in which session."""

    session = models.ForeignKey(
        ExternalSession, on_delete=models.PROTECT, related_name="work"
    )
    assignment = models.OneToOneField(
        Assignment, on_delete=models.PROTECT, related_name="session_work"
    )

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "session work"

    def __str__(self) -> str:
        return f"{self.session}: {self.assignment}"


def is_unvouched(assignment: str) -> Exists:
    """Select work of visits that no platform has vouched for, by the path to it."""
    return Exists(
        SessionWork.objects.filter(assignment=OuterRef(assignment)).exclude(
            session__is_vouched=True
        )
    )
