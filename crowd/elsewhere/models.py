from django.db import models
from django.db.models import Exists, OuterRef

from crowd.hits.models import HIT, Assignment, Campaign
from crowd.money.models import ExchangeRate, LedgerEntry
from crowd.workers.models.worker import Worker
from genie.lib.unguessable import SealedField


class ExternalCampaign(models.Model):
    campaign = models.OneToOneField(
        Campaign, on_delete=models.PROTECT, related_name="external"
    )
    environment = models.CharField(max_length=32, blank=True)
    platform_id = models.CharField(max_length=100, blank=True)
    # the platform's own page about it, for staff
    url = models.URLField(max_length=500, blank=True)
    # whether workers can take the work there, as we last told the platform
    is_open = models.BooleanField(default=False)
    # For work on our pages: the items a place holds, and the platform's fee per place.
    place_size = models.PositiveIntegerField(default=1)
    place_fee_cents = models.PositiveIntegerField(default=0)
    # The cost of a place with its fee, in cents of the account's currency, and that
    # currency's rate: none for US dollars.
    place_cost = models.PositiveIntegerField(null=True, blank=True)
    rate = models.ForeignKey(
        ExchangeRate, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    # [human.study] of the task; see crowd/platforms/base.py
    terms = models.JSONField(default=dict, blank=True)
    # requirements sent to the platform, which its people therefore meet
    attested = models.JSONField(default=list, blank=True)
    synced_at = models.DateTimeField(null=True, blank=True)
    # One process at a time talks to the platform.
    busy_until = models.DateTimeField(null=True, blank=True)
    balance_cents = models.BigIntegerField(null=True, blank=True)
    trouble = models.CharField(
        max_length=500, blank=True, help_text="The last error; cleared on success."
    )

    class Meta:
        ordering = ["-pk"]
        verbose_name = "external campaign"
        verbose_name_plural = "external campaigns"

    def __str__(self) -> str:
        return f"{self.campaign} on {self.campaign.platform}"


class OutwardCall(models.Model):
    """One call to a platform: stored before it is sent, then completed, never edited.

    The token that makes repeating it harmless is derived from `key`.
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
    # its maximal cost, including the fee
    amount_cents = models.PositiveIntegerField(default=0)
    # approve, reject or override, and the reason
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
    campaign = models.ForeignKey(
        Campaign, on_delete=models.PROTECT, related_name="sessions"
    )
    worker = models.ForeignKey(
        Worker, on_delete=models.PROTECT, related_name="sessions"
    )
    session_id = models.CharField(max_length=100)
    # the platform's last report: started, submitted, approved, rejected, ...
    status = models.CharField(max_length=16)
    accepted_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approval_at = models.DateTimeField(null=True, blank=True)
    # the raw answer
    raw = models.TextField(blank=True)
    problem = models.CharField(max_length=300, blank=True)
    # requirements that the platform or panel says the person meets
    attested = models.JSONField(default=list, blank=True)
    # Whether the platform confirmed the visit: None if it could not be asked, False if
    # it denied it. Only confirmed work reaches scores.
    is_vouched = models.BooleanField("vouched for", null=True, default=True)
    # its answers are stored in assignments
    collected_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            # One session id can belong to two workers: returned, then taken again.
            models.UniqueConstraint(
                fields=["campaign", "session_id", "worker"], name="session_once"
            )
        ]

    def __str__(self) -> str:
        return self.session_id


class SessionWork(models.Model):
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
    """Select work of visits that no platform has confirmed, by the path to it."""
    return Exists(
        SessionWork.objects.filter(assignment=OuterRef(assignment)).exclude(
            session__is_vouched=True
        )
    )


class PanelSource(models.Model):
    name = models.SlugField(
        max_length=40, unique=True, help_text="Part of the link; never changes."
    )
    title = models.CharField(max_length=100)
    worker_parameter = models.CharField(
        max_length=50,
        default="participantId",
        help_text="Name of the link parameter that identifies each person.",
    )
    session_parameter = models.CharField(max_length=50, blank=True)
    study_parameter = models.CharField(max_length=50, blank=True)
    completed = models.CharField(
        max_length=500,
        blank=True,
        help_text="A completion code to show, or an address to return to. Write {worker}, "
        "{session} and {study} where the panel expects its ids.",
    )
    screened_out = models.CharField(
        max_length=500,
        blank=True,
        help_text="The same, for people for whom there is no work.",
    )
    failed_check = models.CharField(
        max_length=500,
        blank=True,
        help_text="The same, for people who were screened out.",
    )
    countries = models.CharField(
        max_length=300,
        blank=True,
        help_text="Two-letter codes of the countries where the panel guarantees that its "
        "people live. Empty if it makes no guarantee.",
    )
    items_per_visit = models.PositiveIntegerField(
        default=0,
        help_text="Number of HITs before people return to the panel. 0 means all available "
        "HITs.",
    )
    link_secret = SealedField(
        max_length=200,
        blank=True,
        help_text="Shared with the panel. Links without its signature are refused.",
    )
    is_open = models.BooleanField(
        default=True, help_text="Whether people from this panel are admitted."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "panel"

    def __str__(self) -> str:
        return self.title


class PlatformNotice(models.Model):
    """A notice that a platform sent: each is processed once, however often it comes."""

    platform = models.CharField(max_length=32)
    event_id = models.CharField(max_length=100)
    received_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["platform", "event_id"], name="platform_notice_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.platform} {self.event_id}"
