"""Bans: proposed by the detector, in force, lifted, or refused by a person."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from genie.lib.database import Subset
from quality.detection.models import Verdict


class Ban(models.Model):
    """A worker's ratings of one pool do not count, neither future nor past ones."""

    # If too many workers would be excluded at once, the detector only proposes it. Until
    # a person decides, the worker's answers count, and results that depend on them are
    # not published.
    class State(models.TextChoices):
        PROPOSED = "PROPOSED", "waiting for a decision"
        IN_FORCE = "IN_FORCE", "in force: the worker is excluded"
        LIFTED = "LIFTED", "lifted: the worker may work again"
        REFUSED = "REFUSED", "refused: the worker stays"

    worker = models.ForeignKey(
        "crowd.Worker", on_delete=models.CASCADE, related_name="+"
    )
    pool = models.ForeignKey("crowd.Pool", on_delete=models.PROTECT, related_name="+")
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.IN_FORCE
    )
    verdict = models.ForeignKey(
        Verdict, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    # empty: imposed without asking a person first
    proposed_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: the detector's decision.",
    )
    # since when it is in force; before, when it was proposed
    created_at = models.DateTimeField(default=timezone.now)
    # or when it was refused, by whom and why
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    lifted_reason = models.TextField(blank=True)

    # A proposed ban excludes no worker: only `proposed` finds it.
    objects = Subset["Ban"](state__in=(State.IN_FORCE, State.LIFTED))
    in_force = Subset["Ban"](state=State.IN_FORCE)
    proposed = Subset["Ban"](state=State.PROPOSED)
    decided = Subset["Ban"](state__in=(State.IN_FORCE, State.LIFTED, State.REFUSED))

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["worker", "pool"],
                condition=Q(state="IN_FORCE"),
                name="one_ban_in_force",
            ),
            models.UniqueConstraint(
                fields=["worker", "pool"],
                condition=Q(state="PROPOSED"),
                name="one_proposed_ban",
            ),
            models.CheckConstraint(
                condition=Q(proposed_at=None) | Q(verdict__isnull=False),
                name="proposed_by_a_verdict",
            ),
        ]
        indexes = [models.Index(fields=["pool", "state"])]

    def __str__(self) -> str:
        return str(self.worker)

    @property
    def why(self) -> str:
        return self.verdict.sentence if self.verdict else self.reason


class HeldExclusion(Ban):
    """A ban that was proposed at some time, for the admin's list of them."""

    objects: ClassVar = Subset["HeldExclusion"](proposed_at__isnull=False)

    class Meta:
        proxy = True
        ordering = ["pk"]
