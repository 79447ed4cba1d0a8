from django.conf import settings
from django.db import models
from django.db.models import Q

from crowd.workers.models.worker import Worker
from genie.lib.database import OrderedJSONField

# Campaigns and their contents: HIT types, inputs, HITs and items.
#
# This module knows neither the rated systems nor the test questions: the apps above store
# those and find their campaigns by `key`.
# The platform of imported work. Its workers cannot be asked, paid or contacted here.
ELSEWHERE = "imported"


class HITType(models.Model):
    template = models.SlugField(max_length=100)
    scale = models.SlugField(max_length=100)
    # criterion -> question, in the order of the page
    criteria = OrderedJSONField(default=dict)
    # setup, show_input, before_text, checkboxes, allow_tie, canary; see crowd/hit_templates/form.py
    form = models.JSONField(default=dict, blank=True)
    title = models.CharField(max_length=128)
    description = models.TextField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    reward_cents = models.PositiveIntegerField()
    assignment_seconds = models.PositiveIntegerField(default=1800)
    fingerprint = models.CharField(max_length=64, unique=True)
    # The language it is read in; not stored: see `crowd.hits.selectors`.
    language = ""

    class Meta:
        ordering = ["pk"]
        verbose_name = "HIT type"

    def __str__(self) -> str:
        return self.title


class _TitledPools(models.Manager["Pool"]):
    """A pool has no title: it is shown by that of its newest work."""

    def get_queryset(self) -> models.QuerySet["Pool"]:
        works = Campaign.objects.filter(pool=models.OuterRef("pk")).order_by("-pk")
        title = models.Subquery(works.values("hit_type__title")[:1])
        return super().get_queryset().annotate(title=title)


class Pool(models.Model):
    """Work of the same kind, a benchmark task's: for consent, exclusion, budget."""

    slug = models.SlugField(max_length=100, primary_key=True)
    objects = _TitledPools()

    class Meta:
        ordering = ["slug"]
        base_manager_name = "objects"

    def __str__(self) -> str:
        return getattr(self, "title", None) or self.slug


class Campaign(models.Model):
    # Not stored: what `crowd.workers.selectors.eligible` reads along with a campaign.
    has_requirements: bool
    is_reserved: bool
    newest_of_pool: int

    class State(models.TextChoices):
        SCHEDULED = "SCHEDULED", "scheduled"
        RUNNING = "RUNNING", "running"
        PAUSED = "PAUSED", "paused"
        STOPPED = "STOPPED", "stopped"
        COMPLETE = "COMPLETE", "complete"

    # The upper app's name for it, so building the same campaign twice gives one.
    key = models.CharField(max_length=100, unique=True)
    pool = models.ForeignKey("crowd.Pool", on_delete=models.PROTECT)
    # For staff, from the upper app; workers read the HIT type's title.
    title = models.CharField(max_length=200)
    hit_type = models.ForeignKey(HITType, on_delete=models.PROTECT)
    platform = models.CharField(max_length=32, default="selfhosted")
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.SCHEDULED
    )
    # "task": a worker sees each input once in the whole pool; "campaign": once in this.
    exposure = models.CharField(max_length=16, default="task")
    budget_cents = models.PositiveIntegerField()
    # the platform's fee for one assignment, at the prices when it was built
    fee_cents = models.PositiveIntegerField(default=0)
    # when staff last added to the budget
    money_added_at = models.DateTimeField(null=True, blank=True)
    # None: more are asked for, HIT by HIT, as answers come in.
    answers_per_hit = models.PositiveIntegerField(
        "answers per HIT", null=True, blank=True, default=1
    )
    seed = models.BigIntegerField()
    # the planned share of one worker; None: no limit
    worker_share = models.FloatField("share of one worker", null=True, blank=True)
    share_follows_crowd = models.BooleanField(
        "share follows the crowd",
        default=False,
        help_text="Whether workers may do more if fewer are active.",
    )
    # the number of HITs in that share now
    hits_per_worker = models.PositiveIntegerField(
        "HITs per worker",
        null=True,
        blank=True,
        help_text="How many HITs one worker may do.",
    )
    simulated = models.BooleanField(default=False)
    starts_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    publish_partial = models.BooleanField(
        "publish partial result",
        null=True,
        blank=True,
        help_text="Whether results are published although the campaign was stopped; "
        "unknown unless it was stopped.",
    )
    notice = models.CharField(
        max_length=600, blank=True, help_text="Urgent notes for staff."
    )

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.title

    @property
    def input_scope(self) -> str:
        """Return the scope within which a worker sees the same input only once."""
        return self.pool_id + (f"#{self.pk}" if self.exposure == "campaign" else "")


class Input(models.Model):
    """An input that a worker sees once: in its pool, or in one campaign of it.

    HITs of many campaigns show the same few inputs. The search for a worker's next HIT
    goes through these, so its cost does not depend on the number of open HITs.
    """

    # The pool. If exposure is counted by campaign, see `crowd.hits.services.build`.
    scope = models.CharField(max_length=140)
    content_key = models.CharField(max_length=64)
    # for an input within one campaign: the same input within its pool
    in_pool = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, related_name="+"
    )
    # A worker who sees one of them does not see the other, though their scopes differ.
    closes = models.ManyToManyField("self")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "content_key"], name="input_once_in_scope"
            )
        ]

    def __str__(self) -> str:
        return f"{self.content_key} in {self.scope}"


class HIT(models.Model):
    """One unit of work; `n_available` is how many more assignments it takes."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="hits"
    )
    # the input of its item; a separate index finds open HITs by it
    input = models.ForeignKey(
        Input, on_delete=models.PROTECT, related_name="hits", db_index=False
    )
    # order in which HITs are handed out, random but stored
    position = models.PositiveIntegerField()
    n_available = models.PositiveIntegerField(default=1)
    max_assignments = models.PositiveIntegerField(default=1)
    platform_hit_id = models.CharField(max_length=64, blank=True)
    # on other platforms: its type there, if the campaign's reward has changed since
    posted_as = models.ForeignKey(
        HITType,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )

    class Meta:
        ordering = ["campaign", "position"]
        verbose_name = "HIT"
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "position"], name="hit_position_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["campaign", "position"],
                condition=models.Q(n_available__gt=0),
                name="hit_available",
            ),
            models.Index(
                fields=["input"],
                condition=models.Q(n_available__gt=0),
                name="hit_available_by_input",
            ),
        ]

    def __str__(self) -> str:
        return f"HIT {self.pk}"


class Item(models.Model):
    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="items"
    )
    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="items")
    key = models.CharField(max_length=64)
    data = models.JSONField()
    # Items with the same content key show the same input, which no worker sees twice.
    content_key = models.CharField(max_length=64)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "key"], name="item_key_once")
        ]

    def __str__(self) -> str:
        return f"item {self.pk}"


class DrawnOrder(models.Model):
    """The drawn order of one round: a worker's campaigns of a pool."""

    worker = models.ForeignKey(
        Worker, on_delete=models.CASCADE, related_name="drawn_orders"
    )
    pool = models.ForeignKey("crowd.Pool", on_delete=models.PROTECT)
    number = models.PositiveIntegerField()
    seed = models.BigIntegerField()
    # Keys of campaigns; one with several turns in the round is repeated.
    campaigns = models.JSONField()
    # how many of these turns are over
    n_taken = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["worker", "pool_id", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["worker", "pool", "number"], name="drawn_order_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.worker} · {self.pool_id} · {self.number}"


class Reservation(models.Model):
    campaign = models.OneToOneField(
        Campaign, on_delete=models.CASCADE, related_name="reservation"
    )
    worker = models.ForeignKey(
        Worker,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="reservations",
    )

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.campaign} for {{self.worker or 'the first worker who takes it'}}"


class RewardChange(models.Model):
    """A decision to change the reward of a campaign's assignments from now on.

    The HIT types hold the rewards. The fees are stored here, because a campaign only
    has the fee of its present reward.
    """

    campaign = models.ForeignKey(
        Campaign, on_delete=models.PROTECT, related_name="reward_changes"
    )
    old = models.ForeignKey(HITType, on_delete=models.PROTECT, related_name="+")
    new = models.ForeignKey(HITType, on_delete=models.PROTECT, related_name="+")
    old_fee_cents = models.PositiveIntegerField()
    new_fee_cents = models.PositiveIntegerField()
    # assignments not taken yet
    n_places = models.PositiveIntegerField()
    # the amount added to the campaign's budget for them
    added_cents = models.PositiveIntegerField()
    reason = models.TextField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.old.reward_cents} to {self.new.reward_cents} ¢"


class WorkRecord(models.Model):
    """Figures computed by a job, so that lists of work only read them.

    A row describes one kind of work (its pace), or one requester (their decisions).
    """

    SITE = "site"

    # see `crowd.campaigns.selectors.work_records`
    key = models.CharField(max_length=140, unique=True)
    # empty if so few people were measured that one of them would be revealed
    median_seconds = models.FloatField(null=True, blank=True)
    n_approved = models.PositiveIntegerField(default=0)
    n_rejected = models.PositiveIntegerField(default=0)
    decision_seconds = models.FloatField(null=True, blank=True)
    n_appeals = models.PositiveIntegerField(default=0)
    n_granted = models.PositiveIntegerField(default=0)
    counted_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.key

    @property
    def n_decided(self) -> int:
        return self.n_approved + self.n_rejected

    @property
    def percent_approved(self) -> int | None:
        """Return the share approved; rounded down, so that only all is 100."""
        return 100 * self.n_approved // self.n_decided if self.n_decided else None


# Assignments and answers.
#
# An assignment moves from accepted to submitted and then to approved or rejected;
# returned and expired ones do not count. Two constraints prevent races: one open page per
# worker, one assignment of a HIT per worker. A page is an assignment and those with it as
# `page`; most pages have one.
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


class Rating(models.Model):
    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="ratings"
    )
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="ratings")
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
                fields=["assignment", "item", "criterion", "slot"], name="rating_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.criterion}: {self.value}"


class Telemetry(models.Model):
    """Telemetry from a page's script of how one assignment was done.

    Missing if the page ran without JavaScript or on a platform's page. Staff see it as
    evidence; it is neither published nor released.
    """

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, related_name="telemetry", primary_key=True
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
        verbose_name_plural = "telemetry"

    def __str__(self) -> str:
        return f"telemetry of assignment {self.pk}"
