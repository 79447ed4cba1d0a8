"""Who works on what, and what they answered.

An assignment moves from accepted to submitted and then to approved or rejected;
returned and expired ones do not count. Two constraints carry the races of
handing out work: one open page for a worker, one assignment of a HIT for a worker.
A page is an assignment and those that stand on it with it (`page`); most have one.
"""

from django.db import models
from django.db.models import Q

from crowd.hits.models.campaign import HIT, Campaign, Item
from crowd.workers.models.worker import Worker


class Assignment(models.Model):
    """One worker's turn at one HIT."""

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
    # when its rejection was taken back, so that its answers began to count again
    overturned_at = models.DateTimeField(null=True, blank=True)
    feedback = models.TextField(max_length=1024, blank=True)
    remark = models.TextField(
        max_length=2000, blank=True, help_text="The worker's comment on this HIT."
    )
    active_seconds = models.FloatField(null=True, blank=True)
    # in which language it was asked; empty: before there were several
    language = models.CharField(max_length=16, blank=True, default="")
    # the first assignment of the page on which it stands; empty: it is the first itself
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
    # not stored: the campaigns it was found among, for the page that shows it at once
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
            # each request of a worker begins with their newest; without it PostgreSQL
            # goes through everybody's from the end
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
    """One rating: the number that one worker gave for one criterion of one item."""

    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="answers"
    )
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="answers")
    criterion = models.CharField(max_length=50)
    # which of several outputs is rated; empty: the only one, or a comparison
    slot = models.CharField(max_length=8, blank=True, default="")
    value = models.FloatField()
    raw = models.CharField(max_length=200)
    # what a number cannot hold, such as marked spans
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
    """How one assignment was worked on, as far as its page's script could tell.

    Missing where the page ran without JavaScript or the work was done on a platform's
    page. Staff see it as evidence; it is on no public page and in no release.
    """

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, related_name="signals", primary_key=True
    )
    # from the opening of the page; None: nothing was changed on it
    first_change_seconds = models.PositiveIntegerField(null=True, blank=True)
    n_changes = models.PositiveSmallIntegerField(default=0)
    # how often the page lost the focus or was hidden by another tab
    n_focus_losses = models.PositiveSmallIntegerField(default=0)
    n_copies = models.PositiveSmallIntegerField(default=0)
    n_pastes = models.PositiveSmallIntegerField(default=0)
    # the field that only programs read was filled in as it asks
    canary = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "signals"

    def __str__(self) -> str:
        return f"signals of assignment {self.pk}"
