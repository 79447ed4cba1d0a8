"""Budgets, what is set aside of them, and each payment."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models

from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Campaign


class Budget(models.Model):
    """What may be spent in all, or for one pool; staff change it in the admin."""

    SITE = ""

    pool = models.CharField(
        max_length=100,
        unique=True,
        blank=True,
        help_text="Slug of the benchmark task; leave empty for the whole site.",
    )
    limit_cents = models.PositiveIntegerField()

    class Meta:
        ordering = ["pool"]

    def __str__(self) -> str:
        return f"budget of {self.pool or 'the whole site'}"


class Commitment(models.Model):
    """Money set aside when a person approved a cost, until the work is over."""

    key = models.CharField(max_length=100, unique=True)
    pool = models.CharField(max_length=100, db_index=True)
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
    """What another currency is worth, as staff stored it; rows are added, never edited."""

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
    """One payment, intended and then done; rows are added and completed, not edited."""

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
    # Nothing that a payment points to can be deleted: money must stay traceable.
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
    # what was paid in another currency, in its cents, and at what rate that was reckoned
    foreign_amount = models.PositiveIntegerField(null=True, blank=True)
    rate = models.ForeignKey(
        ExchangeRate, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    reason = models.CharField(max_length=300, blank=True)
    platform_id = models.CharField(max_length=100, blank=True)
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
