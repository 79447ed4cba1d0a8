"""Rows of requesters who post through the Mechanical-Turk-compatible API.

Nothing is shared between requesters: even a worker has a different name for each.
"""

import secrets
import string

from django.conf import settings
from django.db import models
from django.db.models import Q

from crowd.workers.models.worker import Worker

LETTERS = string.ascii_uppercase + string.digits


def new_entity_id() -> str:
    return "3" + "".join(secrets.choice(LETTERS) for _ in range(29))


def new_customer_id() -> str:
    return "A" + "".join(secrets.choice(LETTERS) for _ in range(13))


def new_access_key_id() -> str:
    return "GENIE" + "".join(secrets.choice(LETTERS) for _ in range(15))


class Requester(models.Model):
    name = models.CharField(max_length=100, unique=True)
    customer_id = models.CharField(
        max_length=64, unique=True, default=new_customer_id, editable=False
    )
    # whose accounts on this site open its page
    people = models.ManyToManyField(
        settings.AUTH_USER_MODEL, blank=True, related_name="requesters"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # The sum of its entries and of its HITs' holds. Each posted HIT reads it, so it
    # must not be summed from the beginning.
    balance_cents = models.BigIntegerField(default=0, editable=False)
    held_cents = models.BigIntegerField(default=0, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class AccessKey(models.Model):
    """A requester's signing key; its secret is not stored."""

    requester = models.ForeignKey(
        Requester, on_delete=models.PROTECT, related_name="keys"
    )
    key_id = models.CharField(
        max_length=32, unique=True, default=new_access_key_id, editable=False
    )
    note = models.CharField(max_length=200, blank=True)
    # which of the site's secrets the key's own is derived from; blank: not known
    made_with = models.CharField(max_length=16, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.key_id


class WorkerAlias(models.Model):
    """A worker's name for one requester: two requesters cannot compare their workers."""

    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="aliases"
    )
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="+")
    customer_id = models.CharField(
        max_length=64, unique=True, default=new_customer_id, editable=False
    )
    # Why this requester has blocked them; null: not blocked.
    block_reason = models.TextField(null=True, blank=True)  # noqa: DJ001

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "worker"], name="worker_alias_once"
            )
        ]

    def __str__(self) -> str:
        return self.customer_id


class RequesterHITType(models.Model):
    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="hit_types"
    )
    entity_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    group_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    fingerprint = models.CharField(max_length=64)
    title = models.CharField(max_length=128)
    description = models.TextField(max_length=2000)
    keywords = models.TextField(max_length=1000, blank=True)
    reward_cents = models.PositiveIntegerField()
    assignment_seconds = models.PositiveIntegerField()
    auto_approval_seconds = models.PositiveIntegerField()
    requirements = models.JSONField(default=list)
    # the one notification of a type: replaced, switched on and off
    notification = models.JSONField(null=True, blank=True)
    notification_active = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        verbose_name = "requester's HIT type"
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "fingerprint"], name="requester_hit_type_once"
            )
        ]

    def __str__(self) -> str:
        return self.title


class RequesterHIT(models.Model):
    """One HIT of a requester; its status follows from its rows and the time."""

    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="hits"
    )
    hit_type = models.ForeignKey(
        RequesterHITType, on_delete=models.CASCADE, related_name="hits"
    )
    entity_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    question = models.TextField()
    # the layout of its question
    layout = models.ForeignKey(
        "crowd.RequesterLayout",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="hits",
    )
    # its review policies by their level, as sent
    policies = models.JSONField(null=True, blank=True)
    # its table and row: values in the order of the columns
    batch = models.ForeignKey(
        "crowd.RequesterBatch",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="hits",
    )
    inputs = models.JSONField(null=True, blank=True)
    annotation = models.CharField(max_length=255, blank=True)
    max_assignments = models.PositiveIntegerField()
    # the cost of one assignment, fixed when it was posted
    reward_cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    touched_at = models.DateTimeField()
    reviewing = models.BooleanField(default=False)
    # Whether the end of its submissions was announced.
    announced = models.BooleanField(default=False)
    disposed_at = models.DateTimeField(null=True, blank=True)
    # The amount it holds of its requester's account, and whether as a HIT that has not
    # expired; see `services.money.hold`.
    held_cents = models.BigIntegerField(default=0, editable=False)
    held_as_open = models.BooleanField(default=False, editable=False)

    class Meta:
        ordering = ["pk"]
        verbose_name = "requester's HIT"
        # so that each list and each check of due work reads only its own rows
        indexes = [
            models.Index(
                fields=["requester", "id"],
                condition=Q(disposed_at=None),
                name="requester_hit_kept",
            ),
            models.Index(
                fields=["requester", "id"],
                condition=Q(disposed_at=None, announced=True, reviewing=False),
                name="requester_hit_reviewable",
            ),
            models.Index(
                fields=["requester", "id"],
                condition=Q(disposed_at=None, announced=True, reviewing=True),
                name="requester_hit_reviewing",
            ),
            models.Index(
                fields=["requester", "expires_at"],
                condition=Q(disposed_at=None, announced=False),
                name="requester_hit_to_announce",
            ),
            models.Index(
                fields=["hit_type", "id"],
                condition=Q(disposed_at=None, announced=False),
                name="requester_hit_of_group",
            ),
            models.Index(
                fields=["requester", "expires_at"],
                condition=Q(held_as_open=True),
                name="requester_hit_held_as_open",
            ),
        ]

    def __str__(self) -> str:
        return self.entity_id


class RequesterAssignment(models.Model):
    class State(models.TextChoices):
        ACCEPTED = "Accepted", "being worked on"
        SUBMITTED = "Submitted", "pending approval"
        APPROVED = "Approved", "approved"
        REJECTED = "Rejected", "rejected"
        RETURNED = "Returned", "returned"

    hit = models.ForeignKey(
        RequesterHIT, on_delete=models.CASCADE, related_name="assignments"
    )
    worker = models.ForeignKey(
        WorkerAlias, on_delete=models.PROTECT, related_name="assignments"
    )
    entity_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.ACCEPTED
    )
    accepted_at = models.DateTimeField()
    deadline_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approval_at = models.DateTimeField(null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    rejected_at = models.DateTimeField(null=True, blank=True)
    answer = models.TextField(blank=True)
    feedback = models.TextField(max_length=1024, blank=True)
    # when the worker was paid, and the payer's reference
    paid_at = models.DateTimeField(null=True, blank=True)
    payment_reference = models.CharField(max_length=100, blank=True)
    payout = models.ForeignKey(
        "crowd.Payout",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="requester_assignments",
    )

    class Meta:
        ordering = ["pk"]
        verbose_name = "assignment of a requester's HIT"
        verbose_name_plural = "assignments of requesters' HITs"
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=~Q(state="Returned"),
                name="requester_hit_once_per_worker",
            )
        ]
        # Late or due work is looked up before each call.
        indexes = [
            models.Index(fields=["state", "deadline_at"], name="requester_work_late"),
            models.Index(
                fields=["state", "auto_approval_at"], name="requester_work_due"
            ),
        ]

    def __str__(self) -> str:
        return self.entity_id


class RequesterBonus(models.Model):
    assignment = models.ForeignKey(
        RequesterAssignment, on_delete=models.PROTECT, related_name="bonuses"
    )
    amount_cents = models.PositiveIntegerField()
    reason = models.TextField()
    granted_at = models.DateTimeField()
    paid_at = models.DateTimeField(null=True, blank=True)
    payment_reference = models.CharField(max_length=100, blank=True)
    payout = models.ForeignKey(
        "crowd.Payout",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="requester_bonuses",
    )

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "requester bonuses"

    def __str__(self) -> str:
        return f"bonus of {self.amount_cents} ¢"


class RequesterEntry(models.Model):
    """One movement on a requester's account; rows are only ever added."""

    class Kind(models.TextChoices):
        DEPOSIT = "DEPOSIT", "deposit"
        REWARD = "REWARD", "reward"
        FEE = "FEE", "fee"
        BONUS = "BONUS", "bonus"
        BONUS_FEE = "BONUS_FEE", "bonus fee"

    requester = models.ForeignKey(
        Requester, on_delete=models.PROTECT, related_name="entries"
    )
    # its reason: a second movement for the same one is refused
    key = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    # deposits are positive, payments negative
    amount_cents = models.BigIntegerField()
    reason = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "requester entries"

    def __str__(self) -> str:
        return f"{self.kind} {self.amount_cents} ¢"
