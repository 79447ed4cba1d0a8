import secrets
from decimal import Decimal

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from crowd.hits.models import Assignment, Campaign
from genie.lib.unguessable import SealedText


def new_reference() -> str:
    return f"GP{secrets.token_hex(8).upper()}"


class Budget(models.Model):
    """The spending limit in all, or for one pool; staff change it in the admin."""

    pool = models.OneToOneField(
        "crowd.Pool",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        help_text="The benchmark task; leave empty for the whole site.",
    )
    limit_cents = models.PositiveIntegerField()

    class Meta:
        ordering = [F("pool_id").asc(nulls_first=True)]
        constraints = [
            models.UniqueConstraint(
                Coalesce("pool", Value(""), output_field=models.CharField()),
                name="budget_of_the_site_once",
            )
        ]

    def __str__(self) -> str:
        return f"budget of {self.pool_id or 'the whole site'}"


class Commitment(models.Model):
    key = models.CharField(max_length=100, unique=True)
    pool = models.ForeignKey("crowd.Pool", on_delete=models.PROTECT)
    amount_cents = models.PositiveIntegerField()
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # Once the work is over the commitment shrinks to what was spent.
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.key


class ExchangeRate(models.Model):
    currency = models.CharField(max_length=3, choices=[(c, c) for c in ("GBP", "EUR")])
    dollars = models.DecimalField(
        max_digits=9,
        decimal_places=6,
        validators=[MinValueValidator(Decimal("0.01"))],
        help_text="US dollars for one unit of the currency; 1.27 for a pound.",
    )
    stored_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    stored_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "exchange rate"

    def __str__(self) -> str:
        return (
            f"{self.currency} at ${self.dollars.normalize():f}, stored on "
            f"{self.stored_at:%-d %B %Y}"
        )


class LedgerEntry(models.Model):
    """One payment, planned and then done; rows are added and completed, not edited."""

    class Kind(models.TextChoices):
        REWARD = "REWARD", "reward"
        FEE = "FEE", "platform fee"
        BONUS = "BONUS", "bonus"

    class State(models.TextChoices):
        PLANNED = "PLANNED", "planned"
        SENDING = "SENDING", "being sent"
        DONE = "DONE", "done"
        FAILED = "FAILED", "failed"
        CANCELLED = "CANCELLED", "cancelled"

    idempotency_key = models.CharField(max_length=64, unique=True)
    # Rows that a payment refers to cannot be deleted: money must stay traceable.
    campaign = models.ForeignKey(
        Campaign, on_delete=models.PROTECT, related_name="ledger"
    )
    assignment = models.ForeignKey(
        Assignment,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="ledger",
    )
    kind = models.CharField(max_length=16, choices=Kind.choices)
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.PLANNED
    )
    amount_cents = models.PositiveIntegerField()
    # The payment in another currency, in its cents, and the rate used.
    foreign_amount = models.PositiveIntegerField(null=True, blank=True)
    rate = models.ForeignKey(
        ExchangeRate, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    reason = models.CharField(max_length=300, blank=True)
    platform_id = models.CharField(max_length=100, blank=True)
    # its transfer; empty again if that failed
    payout = models.ForeignKey(
        "crowd.Payout",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="entries",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "ledger entries"
        indexes = [
            models.Index(
                fields=["id"],
                condition=~models.Q(platform_id=""),
                name="ledger_with_platform_id",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount_cents} ¢"


class PaymentDetails(models.Model):
    """A worker's account; the text is encrypted with the site's secret key."""

    class Method(models.TextChoices):
        BANK = "BANK", _("Bank transfer")
        PAYPAL = "PAYPAL", "PayPal"
        WISE = "WISE", "Wise"

    worker = models.OneToOneField(
        "crowd.Worker", on_delete=models.CASCADE, related_name="payment_details"
    )
    method = models.CharField(max_length=8, choices=Method.choices)
    sealed = SealedText()
    # A payment to them failed: none is planned until the worker has corrected them.
    wrong = models.BooleanField(default=False)
    saved_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "payment details"

    def __str__(self) -> str:
        return f"{self.worker}: {self.get_method_display()}"


class PayoutTerms(models.Model):
    """When payouts are planned, and their minimum; its one row is also the lock."""

    class Every(models.TextChoices):
        MONTH = "MONTH", "month"
        WEEK = "WEEK", "week"
        NEVER = "NEVER", "only when staff plan one"

    every = models.CharField(
        max_length=8, choices=Every.choices, default=Every.MONTH, help_text="How often."
    )
    day = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(28)],
        help_text="Day of the month, 1 to 28; of the week, 1 (Monday) to 7.",
    )
    minimum_cents = models.PositiveIntegerField(
        default=500, help_text="Smaller amounts are carried over to the next payout."
    )
    planned_on = models.DateField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name_plural = "payout terms"

    def __str__(self) -> str:
        return f"every {self.get_every_display()}, day {self.day}"

    def clean(self) -> None:
        if self.every == self.Every.WEEK and self.day > 7:
            raise ValidationError({"day": "A week has seven days."})


class PayoutRun(models.Model):
    class State(models.TextChoices):
        PLANNED = "PLANNED", "planned"
        IN_FILE = "IN_FILE", "in a file"
        CLOSED = "CLOSED", "closed"

    BY_HAND = "BY_HAND"
    METHODS = (*PaymentDetails.Method.choices, (BY_HAND, "by hand"))

    due_on = models.DateField()
    method = models.CharField(max_length=8, choices=METHODS)
    state = models.CharField(max_length=8, choices=State.choices, default=State.PLANNED)
    # the columns of the file
    layout = models.CharField(max_length=8, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    approved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.due_on:%Y-%m-%d}, {self.get_method_display()}"


class Payout(models.Model):
    class State(models.TextChoices):
        PLANNED = "PLANNED", _("planned")
        IN_FILE = "IN_FILE", _("on its way")
        PAID = "PAID", _("paid")
        FAILED = "FAILED", _("failed")
        # before any money moved: workers do not see these
        PUT_OFF = "PUT_OFF", "taken back"

    run = models.ForeignKey(PayoutRun, on_delete=models.PROTECT, related_name="payouts")
    worker = models.ForeignKey(
        "crowd.Worker", on_delete=models.PROTECT, related_name="payouts"
    )
    amount_cents = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.PLANNED)
    # Its reference in files, to match the results; it reveals nothing about the worker.
    reference = models.CharField(max_length=30, unique=True, default=new_reference)
    # The account when the file was made; emptied when it is over.
    sealed = SealedText(blank=True)
    # the payer's number, or why it failed
    reason = models.CharField(max_length=300, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["worker", "state"])]

    def __str__(self) -> str:
        return self.reference
