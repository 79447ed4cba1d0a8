import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median
from typing import Any, Protocol

from django.db.models import (
    Count,
    Exists,
    Max,
    OuterRef,
    Q,
    Sum,
    prefetch_related_objects,
)
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import get_language, gettext, ngettext

from crowd import hit_templates
from crowd.elsewhere.models import is_unvouched
from crowd.hit_templates import HITTemplate
from crowd.hit_templates.consent import ENGLISH
from crowd.hit_templates.form import (
    CHECKBOXES,
    CHECKBOXES_IN,
    Errors,
    Form,
    read_errors,
    read_form,
)
from crowd.hits.models import HIT, Assignment, Campaign, HITType, Item, RewardChange
from crowd.money.models import LedgerEntry
from crowd.pricing import hourly_cents
from crowd.scales.base import Scale, all_scales

State = Assignment.State
COUNTED = (State.SUBMITTED, State.APPROVED)
UNSPENT = (LedgerEntry.State.CANCELLED, LedgerEntry.State.FAILED)


@dataclass(frozen=True)
class CampaignProgress:
    n_hits: int
    n_done: int
    n_answers: int
    n_open: int
    n_waiting: int
    spent_cents: int
    committed_cents: int
    budget_cents: int
    median_active_seconds: float | None
    hourly_cents: int | None

    @property
    def n_left(self) -> int:
        """Answers still to come; a HIT may ask for several."""
        return self.n_open + self.n_waiting

    @property
    def n_asked(self) -> int:
        return self.n_answers + self.n_left


def campaign_progress(campaign: Campaign) -> CampaignProgress:
    return progress_of([campaign])[campaign.pk]


def progress_of(
    campaigns: Iterable[Campaign], *, whole_hits: bool = True
) -> dict[int, CampaignProgress]:
    """Return the figures of several campaigns in a constant number of queries.

    Counting finished HITs takes as long as everything else. Pages that show only
    answers pass ``whole_hits=False``, and `n_done` is 0.
    """
    campaigns = list(campaigns)
    prefetch_related_objects(campaigns, "hit_type")
    pks = [campaign.pk for campaign in campaigns]
    hits = {
        row["campaign"]: row
        # A HIT that was closed before it was taken is not asked for.
        for row in HIT.objects.filter(campaign__in=pks, max_assignments__gt=0)
        .order_by()
        .values("campaign")
        .annotate(n=Count("pk"), waiting=Sum("n_available"))
    }
    done = _n_done(pks) if whole_hits else {}
    work = _work(pks)
    spent = _spent(pks)
    # The pace of programs says nothing about hourly pay.
    seconds = _active_seconds([c.pk for c in campaigns if not c.simulated])
    progress_by_campaign = {}
    for campaign in campaigns:
        row = hits.get(campaign.pk, {"n": 0, "waiting": 0})
        pace = median(seconds[campaign.pk]) if campaign.pk in seconds else None
        n_answers, n_open, open_rewards = work.get(campaign.pk, (0, 0, 0))
        cents = spent.get(campaign.pk, 0)
        progress_by_campaign[campaign.pk] = CampaignProgress(
            n_hits=row["n"],
            n_done=done.get(campaign.pk, 0),
            n_answers=n_answers,
            n_open=n_open,
            n_waiting=row["waiting"],
            spent_cents=cents,
            # Open assignments keep the reward at which they were taken.
            committed_cents=cents
            + open_rewards
            + n_open * campaign.fee_cents
            + row["waiting"] * unit_cents(campaign),
            budget_cents=campaign.budget_cents,
            median_active_seconds=pace,
            hourly_cents=hourly_cents(campaign.hit_type.reward_cents, pace),
        )
    return progress_by_campaign


def unit_cents(campaign: Campaign) -> int:
    """Return the cents of one assignment with the platform's fee."""
    return campaign.hit_type.reward_cents + campaign.fee_cents


def is_done(campaign: Campaign) -> bool:
    """Check whether no place is free, no assignment is open, and all answers count."""
    if campaign.hits.filter(n_available__gt=0).exists():
        return False
    work = Assignment.objects.filter(hit__campaign=campaign).aggregate(
        n_open=Count("pk", filter=Q(state=State.ACCEPTED)),
        n_counted=Count("pk", filter=Q(state__in=COUNTED, replaced_at=None)),
        n_unvouched=Count("pk", filter=Q(is_unvouched("pk"), state__in=COUNTED)),
        n_replaced=Count("pk", filter=Q(replaced_at__isnull=False)),
    )
    if work["n_open"] or work["n_unvouched"]:
        return False
    n_places = campaign.hits.aggregate(n=Sum("max_assignments"))["n"] or 0
    # A replaced answer keeps its place in addition to the one opened for it.
    return bool(work["n_counted"] == n_places - work["n_replaced"])


def _n_done(pks: list[int]) -> dict[int, int]:
    here = Assignment.objects.filter(hit=OuterRef("pk"))
    return dict(
        HIT.objects.filter(
            Exists(here.filter(state__in=COUNTED, replaced_at=None)),
            ~Exists(here.filter(state=State.ACCEPTED)),
            campaign__in=pks,
            n_available=0,
        )
        .order_by()
        .values_list("campaign")
        .annotate(n=Count("pk"))
    )


def _work(pks: list[int]) -> dict[int, tuple[int, int, int]]:
    at_work = Q(state=State.ACCEPTED)
    rows = (
        Assignment.objects.filter(
            at_work | Q(state__in=COUNTED, replaced_at=None), hit__campaign__in=pks
        )
        .order_by()
        .values_list("hit__campaign")
        .annotate(
            n=Count("pk", filter=~at_work),
            n_open=Count("pk", filter=at_work),
            cents=Sum("reward_cents", filter=at_work, default=0),
        )
    )
    return {pk: (n, n_open, cents) for pk, n, n_open, cents in rows}


def _spent(pks: list[int]) -> dict[int, int]:
    return dict(
        LedgerEntry.objects.filter(campaign__in=pks)
        .exclude(state__in=UNSPENT)
        .order_by()
        .values_list("campaign")
        .annotate(cents=Sum("amount_cents"))
    )


def _active_seconds(pks: list[int]) -> dict[int, list[float]]:
    seconds_by_campaign: dict[int, list[float]] = {}
    for pk, seconds in Assignment.objects.filter(
        hit__campaign__in=pks, active_seconds__isnull=False
    ).values_list("hit__campaign", "active_seconds"):
        if seconds is not None:
            seconds_by_campaign.setdefault(pk, []).append(seconds)
    return seconds_by_campaign


def open_pages(campaigns: Iterable[int]) -> dict[int, tuple[int, datetime]]:
    rows = Assignment.objects.filter(hit__campaign__in=campaigns, state=State.ACCEPTED)
    counted = (
        rows.order_by()
        .values_list("hit__campaign")
        .annotate(
            n=Count(Coalesce("page", "pk"), distinct=True), until=Max("deadline_at")
        )
    )
    return {campaign: (n, until) for campaign, n, until in counted}


def stopped_words(pages: Iterable[tuple[int, datetime]]) -> str:
    found = list(pages)
    if not found:
        return gettext("stopped")
    n = sum(count for count, _ in found)
    until = max(due for _, due in found).astimezone(UTC)
    is_today = until.date() == timezone.now().astimezone(UTC).date()
    return ngettext(
        "stopped; waiting for %(n)s open page until %(time)s UTC",
        "stopped; waiting for %(n)s open pages until %(time)s UTC",
        n,
    ) % {"n": f"{n:,}", "time": f"{until:{'%H:%M' if is_today else '%Y-%m-%d %H:%M'}}"}


def state_words(campaign: Campaign) -> str:
    """Return a campaign's state; for a stopped one, also its open pages."""
    if campaign.state != Campaign.State.STOPPED or campaign.completed_at is not None:
        return campaign.get_state_display()
    return stopped_words(open_pages([campaign.pk]).values())


# In addition to the criteria: the marked errors, if a template asks for them.
SPANS = "spans"
# In an output's data: the marks it comes with, and who made them.
PREFILLED, BY = "spans", "spans_by"


@dataclass(frozen=True)
class Asked:
    """One question; with a slot it is about that output only."""

    criterion: str
    slot: str
    text: str
    scale: type[Scale]
    checkbox: bool = False
    # before the input is shown
    first: bool = False

    @property
    def key(self) -> str:
        return f"{self.criterion}@{self.slot}" if self.slot else self.criterion


def form_of(hit_type: HITType) -> Form:
    return read_form(hit_type.form, hit_type.criteria)


def expected_seconds(hit_type: HITType) -> int:
    """Return how long a HIT should take: by its work, or by its template."""
    usual = hit_templates.get(hit_type.template).seconds
    return int(hit_type.form.get("expected_seconds") or usual)


def errors_of(hit_type: HITType) -> Errors:
    usual = hit_templates.get(hit_type.template).form.get("errors", {})
    return read_errors(hit_type.form.get("errors") or usual)


@dataclass(frozen=True)
class Marked:
    text: str
    # None: it comes without, and changes to marks are not recorded.
    prefilled: Sequence[Mapping[str, Any]] | None = None
    # who made these
    by: str = ""


def marked_texts(hit_type: HITType, data: Mapping[str, Any]) -> dict[str, Marked]:
    """Return by slot the texts in which errors are marked; empty if there are none."""
    if not hit_templates.get(hit_type.template).marks_errors:
        return {}
    outputs = {str(one["slot"]): one for one in data.get("outputs") or []}
    parts = outputs or {"": {**data, "text": data["prediction"]}}
    return {
        slot: Marked(str(one["text"]), one.get(PREFILLED), str(one.get(BY, "")))
        for slot, one in parts.items()
    }


def spans_key(slot: str) -> str:
    return f"{SPANS}@{slot}" if slot else SPANS


def scale_of(hit_type: HITType) -> type[Scale]:
    ties = hit_type.scale == "two-choice" and form_of(hit_type).allow_tie
    scale = all_scales()["two-choice-tie" if ties else hit_type.scale]
    return scale.in_language(hit_type.language)


def questions_about(hit_type: HITType, data: Mapping[str, Any]) -> list[Asked]:
    """Return the questions about one item, by output and then by criterion."""
    scale = scale_of(hit_type)
    form = form_of(hit_type)
    ticks = CHECKBOXES_IN.get(hit_type.language, CHECKBOXES)
    slots = [""] if scale.compares else slots_of(data) or [""]
    return [
        question
        for slot in slots
        for question in _of_slot(hit_type.criteria, form, scale, slot, ticks)
    ]


def slots_of(data: Mapping[str, Any]) -> list[str]:
    return [str(output["slot"]) for output in data.get("outputs") or []]


def _of_slot(
    criteria: Mapping[str, str],
    form: Form,
    scale: type[Scale],
    slot: str,
    ticks: Mapping[str, str],
) -> list[Asked]:
    rated = [
        Asked(criterion, slot, text, scale, first=criterion in form.before_input)
        for criterion, text in criteria.items()
    ]
    ticked = [
        Asked(name, slot, ticks[name], all_scales()["binary"], checkbox=True)
        for name in form.checkboxes
    ]
    return [question for question in rated if question.first] + [
        question for question in rated + ticked if not question.first
    ]


# Rewards of a HIT's assignments, and the names of HIT types on platforms.
#
# A campaign's reward can change while it runs. Here, workers who take a HIT later get the
# new one. On a platform, a HIT pays the reward of its type there: `HIT.posted_as` stores
# it if that is not the campaign's type.
@dataclass(frozen=True)
class Terms:
    reward_cents: int
    fee_cents: int


def terms_of(hit: HIT, campaign: Campaign) -> Terms:
    now = Terms(campaign.hit_type.reward_cents, campaign.fee_cents)
    if hit.posted_as_id is None or hit.posted_as_id == campaign.hit_type_id:
        return now
    change = (
        RewardChange.objects.filter(campaign=campaign, old=hit.posted_as_id)
        .select_related("old")
        .last()
    )
    return Terms(change.old.reward_cents, change.old_fee_cents) if change else now


def offer_name(campaign: Campaign, hit_type_pk: int) -> str:
    first = RewardChange.objects.filter(campaign=campaign).first()
    if first is None or first.old_id == hit_type_pk:
        return str(campaign.pk)
    return f"{campaign.pk}.{hit_type_pk}"


# The language of a HIT: one for the whole page, from the title to the answers.
#
# The questions of a task are written in one language. Translations come from the task
# itself (`languages` of its form) or from its HIT template. A language is offered only if
# all words of the page are translated, so no page mixes two.

# Words of a page that no task can translate: see crowd/scales and form.py.
SCALE, CHECKED = "scale", "checkboxes"


class Asking(Protocol):
    @property
    def template(self) -> str: ...
    @property
    def scale(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def criteria(self) -> Mapping[str, str]: ...
    @property
    def form(self) -> Mapping[str, Any]: ...


@dataclass
class Wording:
    title: str
    description: str
    instructions: str
    criteria: dict[str, str] = field(default_factory=dict)
    # as keys of a task's table of the language
    missing: list[str] = field(default_factory=list)


def language_written(asked: Asking) -> str:
    return str(asked.form.get("language", ENGLISH))


def languages_of(asked: Asking) -> list[str]:
    """Return the languages with all words, the original first."""
    written = language_written(asked)
    others = sorted(_may_be(asked) - {written})
    return [written, *(one for one in others if not wording_in(asked, one).missing)]


def language_for(
    asked: Asking, wanted: str | None, items: Iterable[Mapping[str, Any]] = ()
) -> str:
    """Choose the language for a reader of `wanted`; the task's otherwise.

    `wanted` is as in Django: ``de``, ``de-at``. The labels of `items` must be
    translated, too.
    """
    written = language_written(asked)
    for language in (wanted or "", (wanted or "").partition("-")[0]):
        if language == written:
            return written
        if not language or language not in _may_be(asked):
            continue
        labels = {part["label"] for data in items for part in data.get("fields") or []}
        if not wording_in(asked, language, labels).missing:
            return language
    return written


def language_now(hit_type: HITType, hit_pk: int) -> str:
    wanted = get_language()
    if language_for(hit_type, wanted) == language_written(hit_type):
        return language_written(hit_type)
    items = Item.objects.filter(hit_id=hit_pk).values_list("data", flat=True)
    return language_for(hit_type, wanted, items)


def language_of_pool(hit_type: HITType, pool: str) -> str:
    item = Item.objects.filter(campaign__pool=pool, campaign__hit_type=hit_type).first()
    return language_for(hit_type, get_language(), [item.data] if item else [])


def language_of(assignment: Assignment) -> str:
    return assignment.language or language_written(assignment.hit.campaign.hit_type)


def title_now(hit_type: HITType) -> str:
    return wording_in(hit_type, language_for(hit_type, get_language())).title


def translate_hit_type(hit_type: HITType, language: str) -> HITType:
    """Return a HIT type in a language, to be shown and never stored."""
    said = wording_in(hit_type, language)
    shown = copy.copy(hit_type)
    shown.language = language
    shown.title, shown.description = said.title, said.description
    shown.criteria = said.criteria
    if said.instructions:
        shown.form = {**shown.form, "instructions": said.instructions}
    return shown


def template_of(hit_type: HITType) -> HITTemplate:
    return template_in(hit_type, hit_type.language)


def wording_in(asked: Asking, language: str, labels: Iterable[str] = ()) -> Wording:
    """Collect the words in a language: from the task, or else from its template.

    In the task's own language, no word is missing.
    """
    own = asked.form.get("languages", {}).get(language, {})
    written = language == language_written(asked)
    shown = template_in(asked, language)
    knows = language in shown.words or language == ENGLISH
    found = Wording(
        title=asked.title if written else own.get("title") or _title_in(asked, shown),
        description=asked.description if written else shown.description,
        instructions=own.get("instructions", ""),
    )
    usual = hit_templates.get(asked.template).questions
    translated = {text: shown.questions[name] for name, text in usual.items()}
    for name, text in asked.criteria.items():
        said = own.get("questions", {}).get(name) or (knows and translated.get(text))
        found.criteria[name] = said or text
        if not said:
            found.missing.append(f"questions.{name}")
    if asked.form.get("instructions"):
        if written:
            found.instructions = asked.form["instructions"]
        knows = False
    if not (found.instructions or knows):
        found.missing.append("instructions")
    if language != ENGLISH:
        labels = [*labels, *errors_named(asked)]
    found.missing += [f"labels.{one}" for one in labels if one not in shown.labels]
    found.missing += _of_answers(asked, language)
    if written:
        found.missing.clear()
    return found


def errors_named(asked: Asking) -> list[str]:
    template = hit_templates.get(asked.template)
    if not template.marks_errors:
        return []
    own = asked.form.get("errors") or template.form.get("errors", {})
    return read_errors(own).words


def _title_in(asked: Asking, shown: HITTemplate) -> str:
    task = asked.title.partition(": ")[2]
    return f"{shown.title} · {task}" if task else shown.title


def _of_answers(asked: Asking, language: str) -> Iterator[str]:
    if language == ENGLISH:
        return
    scale = all_scales().get(asked.scale)
    if scale is not None and not scale.is_in(language):
        yield SCALE
    if asked.form.get("checkboxes") and language not in CHECKBOXES_IN:
        yield CHECKED


def template_in(asked: Asking, language: str) -> HITTemplate:
    template = hit_templates.get(asked.template)
    if language in template.words:
        template = template.in_words(language)
    own = asked.form.get("languages", {}).get(language, {})
    return template.with_labels(own.get("labels", {}))


def _may_be(asked: Asking) -> set[str]:
    words = hit_templates.get(asked.template).words
    return {ENGLISH, *words, *asked.form.get("languages", {})}
