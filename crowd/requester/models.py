import secrets
import string

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

from crowd.workers.models.worker import Worker
from genie.lib.runner import Work

# Rows of requesters who post through the Mechanical-Turk-compatible API.
#
# Nothing is shared between requesters: even a worker has a different name for each.
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

    def get_absolute_url(self) -> str:
        return reverse("requester:desk", args=[self.customer_id])


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


class QualificationType(models.Model):
    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="qualification_types"
    )
    entity_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    name = models.CharField(max_length=200)
    description = models.TextField(max_length=2000)
    keywords = models.TextField(max_length=1000, blank=True)
    active = models.BooleanField(default=True)
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    test_seconds = models.PositiveBigIntegerField(null=True, blank=True)
    retry_seconds = models.PositiveBigIntegerField(null=True, blank=True)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    created_at = models.DateTimeField()
    disposed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"],
                condition=Q(disposed_at=None),
                name="qualification_name_once",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Qualification(models.Model):
    """A worker's value of one type; revoking keeps the row."""

    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.CASCADE, related_name="qualifications"
    )
    worker = models.ForeignKey(
        WorkerAlias, on_delete=models.CASCADE, related_name="qualifications"
    )
    value = models.IntegerField(default=1)
    granted = models.BooleanField(default=True)
    granted_at = models.DateTimeField()
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"], name="qualification_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.qualification_type}: {self.value}"


class QualificationRequest(models.Model):
    class State(models.TextChoices):
        STARTED = "STARTED", "test being taken"
        PENDING = "PENDING", "waits"
        GRANTED = "GRANTED", "granted"
        REJECTED = "REJECTED", "rejected"

    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.CASCADE, related_name="requests"
    )
    worker = models.ForeignKey(
        WorkerAlias, on_delete=models.CASCADE, related_name="qualification_requests"
    )
    entity_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    answer = models.TextField(blank=True)
    # for a test in progress: when it was begun
    submitted_at = models.DateTimeField()
    deadline_at = models.DateTimeField(null=True, blank=True)
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.PENDING
    )
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=Q(state__in=["STARTED", "PENDING"]),
                name="one_pending_qualification_request",
            )
        ]

    def __str__(self) -> str:
        return self.entity_id


TWO_LETTERS = RegexValidator(r"^[A-Z]{2}\Z", "Two capital letters, such as US.")


class WorkerRecord(models.Model):
    worker = models.OneToOneField(
        Worker, on_delete=models.CASCADE, related_name="record"
    )
    country = models.CharField(
        max_length=2,
        blank=True,
        validators=[TWO_LETTERS],
        help_text="Country of residence: ISO 3166, two capital letters; empty if unknown.",
    )
    subdivision = models.CharField(
        max_length=2,
        blank=True,
        validators=[TWO_LETTERS],
        help_text="State, for people in the US only.",
    )
    adult = models.BooleanField(
        default=False, help_text="Is an adult and accepts adult content."
    )
    master = models.BooleanField(
        default=False, help_text="Counts as a Master for HITs that require Masters."
    )

    class Meta:
        ordering = ["worker"]
        verbose_name = "worker's record"

    def __str__(self) -> str:
        return str(self.worker)


class RequesterBatch(models.Model):
    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="batches"
    )
    hit_type = models.ForeignKey(
        RequesterHITType, on_delete=models.CASCADE, related_name="batches"
    )
    name = models.CharField(max_length=100)
    # the table's columns, in order
    columns = models.JSONField(default=list)
    lifetime_seconds = models.PositiveIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "requester batches"
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"], name="requester_batch_once"
            )
        ]

    def __str__(self) -> str:
        return self.name


class RequesterLayout(models.Model):
    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="layouts"
    )
    entity_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    name = models.CharField(max_length=100)
    page = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    # It is not used for new HITs; existing ones keep their page.
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "requester's layout"

    def __str__(self) -> str:
        return self.name


class PolicyDetail(models.Model):
    hit = models.ForeignKey(
        RequesterHIT, on_delete=models.CASCADE, related_name="policy_details"
    )
    # Assignment or HIT
    level = models.CharField(max_length=16)
    is_action = models.BooleanField()
    body = models.JSONField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.hit}: {self.body.get('Key') or self.body.get('ActionName')}"


class RequestToken(models.Model):
    """A request that must not happen twice, and what it created the first time."""

    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="tokens"
    )
    operation = models.CharField(max_length=64)
    token = models.CharField(max_length=128)
    made = models.CharField(max_length=64, blank=True)
    used_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "operation", "token"], name="request_token_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.token}"


class RequesterEvent(Work):
    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="events"
    )
    event_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    transport = models.CharField(max_length=16)
    destination = models.TextField()
    body = models.JSONField()
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["sent_at", "next_at"])]

    def __str__(self) -> str:
        return self.event_id
