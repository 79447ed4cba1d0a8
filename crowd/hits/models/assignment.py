"""Assignments and answers.

An assignment moves from accepted to submitted and then to approved or rejected;
returned and expired ones do not count. Two constraints prevent races: one open page per
worker, one assignment of a HIT per worker. A page is an assignment and those with it as
`page`; most pages have one.
"""

from django.db import models
from django.db.models import Q

from crowd.hits.models.campaign import HIT, Campaign, Item
from crowd.workers.models.worker import Worker


class Assignment(models.Model):
    class State(models.TextChoices):
        ACCEPTED = "ACCEPTED", "being worked on"
        SUBMITTED = "SUBMITTED", "pending approval"
        APPROVED = "APPROVED", "approved"
        REJECTED = "REJECTED", "rejected"
        RETURNED = "RETURNED", "returned"
        EXPIRED = "EXPIRED", "timed out"

    hit = models.ForeignKey(HIT, on_delete=models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(
        Worker, on_delete=models.PROTECT, related_name="assignments", db_index=False
    )
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.ACCEPTED
    )
    reward_cents = models.PositiveIntegerField()
    accepted_at = models.DateTimeField()
    deadline_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    # when its rejection was reversed, so that its answers count again
    overturned_at = models.DateTimeField(null=True, blank=True)
    feedback = models.TextField(max_length=1024, blank=True)
    remark = models.TextField(
        max_length=2000, blank=True, help_text="The worker's comment on this HIT."
    )
    active_seconds = models.FloatField(null=True, blank=True)
    # the language in which it was asked; empty: before there were several
    language = models.CharField(max_length=16, blank=True, default="")
    # the first assignment of its page; empty: this is the first
    page = models.ForeignKey(
        "self",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        editable=False,
        related_name="with_it",
        db_index=False,
    )
    # The HIT went out again because this worker's answers do not count.
    replaced_at = models.DateTimeField(null=True, blank=True)
    # Not stored: the campaigns it was found among, for the page that shows it next.
    in_turns: list[Campaign] | None = None

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["worker"],
                condition=Q(state="ACCEPTED", page=None),
                name="one_open_page_per_worker",
            ),
            models.UniqueConstraint(
                fields=["hit", "worker"], name="hit_once_per_worker"
            ),
        ]
        indexes = [
            models.Index(fields=["worker", "state"]),
            # Each request of a worker begins with their newest. Without this index
            # PostgreSQL scans all workers' assignments from the end.
            models.Index(fields=["worker", "id"], name="assignment_newest_of_worker"),
            models.Index(
                fields=["hit", "decided_at"],
                condition=Q(state="REJECTED"),
                name="assignment_rejected",
            ),
            models.Index(
                fields=["hit", "overturned_at"],
                condition=Q(overturned_at__isnull=False),
                name="assignment_overturned",
            ),
            models.Index(
                fields=["id"], condition=~Q(remark=""), name="assignment_with_remark"
            ),
            models.Index(
                fields=["page"],
                condition=Q(page__isnull=False),
                name="assignment_on_page",
            ),
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk}"


class Answer(models.Model):
    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="answers"
    )
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="answers")
    criterion = models.CharField(max_length=50)
    # which of several outputs is rated; empty: the only one, or a comparison
    slot = models.CharField(max_length=8, blank=True, default="")
    value = models.FloatField()
    raw = models.CharField(max_length=200)
    # data beyond the number, such as marked spans
    detail = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "item", "criterion", "slot"],
                name="answer_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.criterion}: {self.value}"


class Signals(models.Model):
    """Signals from a page's script of how one assignment was done.

    Missing if the page ran without JavaScript or on a platform's page. Staff see it as
    evidence; it is neither published nor released.
    """

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, related_name="signals", primary_key=True
    )
    # since the page opened; None: no change
    first_change_seconds = models.PositiveIntegerField(null=True, blank=True)
    n_changes = models.PositiveSmallIntegerField(default=0)
    # how often the page lost the focus or was hidden by another tab
    n_focus_losses = models.PositiveSmallIntegerField(default=0)
    n_copies = models.PositiveSmallIntegerField(default=0)
    n_pastes = models.PositiveSmallIntegerField(default=0)
    # whether the field that only programs read was filled in as it asks
    canary = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "signals"

    def __str__(self) -> str:
        return f"signals of assignment {self.pk}"
