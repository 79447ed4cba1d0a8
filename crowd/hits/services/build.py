import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Max, QuerySet, Sum
from django.db.models.expressions import RawSQL

from crowd import hit_templates
from crowd.hit_templates import HITTemplate
from crowd.hit_templates.form import DOCUMENT, PART, read_form
from crowd.hits.models import HIT, Assignment, Campaign, HITType, Input, Item
from crowd.hits.selectors import SPANS, campaign_progress, slots_of, unit_cents
from crowd.pricing import fee_per_assignment
from crowd.scales.base import all_scales
from genie.lib.database import count_anew
from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from

# The inputs that HITs show; no worker gets the same one twice.
BATCH = 2_000


def inputs_for(campaign: Campaign, content_keys: Iterable[str]) -> dict[str, Input]:
    """Return the input of each content key, creating new ones.

    If exposure is counted by campaign, the inputs belong to the campaign. They refer to
    the pool's inputs, because other campaigns of the pool use those.
    """
    keys = sorted(set(content_keys))
    in_pool = _stored_inputs(campaign.pool_id, keys, {})
    scope = campaign.input_scope
    return (
        in_pool if scope == campaign.pool_id else _stored_inputs(scope, keys, in_pool)
    )


def keep_apart(pairs: Iterable[tuple[Input, Input]]) -> None:
    """Keep the other input from workers who see one of a pair."""
    closes = Input.closes.through
    both = {(a.pk, b.pk) for one, two in pairs for a, b in ((one, two), (two, one))}
    closes.objects.bulk_create(
        [closes(from_input_id=a, to_input_id=b) for a, b in sorted(both)],
        batch_size=BATCH,
        ignore_conflicts=True,
    )


def _stored_inputs(
    scope: str, keys: list[str], in_pool: Mapping[str, Input]
) -> dict[str, Input]:
    # Two campaigns of a pool may be built at once; the first row is kept.
    Input.objects.bulk_create(
        [Input(scope=scope, content_key=key, in_pool=in_pool.get(key)) for key in keys],
        batch_size=BATCH,
        ignore_conflicts=True,
    )
    return {row.content_key: row for row in Input.objects.filter(scope=scope)}


EXPOSURES = ("task", "campaign")
CRITERION_CHARACTERS = 50
# After so many new HITs, the database should update its statistics.
MANY = 200


@dataclass(frozen=True)
class HITTypeSpec:
    template: str
    scale: str
    criteria: Mapping[str, str]
    title: str
    description: str
    keywords: str
    reward_cents: int
    assignment_seconds: int
    # see crowd/hit_templates/form.py
    form: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ItemSpec:
    key: str
    data: Mapping[str, Any]
    content_key: str


def build_campaign(
    *,
    key: str,
    pool: str,
    title: str,
    hit_type: HITTypeSpec,
    items: Sequence[ItemSpec],
    platform: str = "selfhosted",
    budget_cents: int,
    seed: int,
    starts_at: datetime,
    exposure: str = "task",
    simulated: bool = False,
    max_assignments: int = 1,
    n_twice: int = 0,
) -> Campaign:
    """Return the campaign of that key; build it in the caller's transaction if missing.

    One item per HIT, in an order that the seed determines and the rows store. Of items
    of all kinds, `n_twice` drawn ones get one more answer.
    """
    existing = Campaign.objects.filter(key=key).first()
    if existing is not None:
        return existing
    _check(hit_type, items, exposure, max_assignments)
    # Stored with the campaign, so new platform prices do not change running ones.
    fee_cents = fee_per_assignment(
        platform, hit_type.reward_cents, max_assignments=max_assignments
    )
    _check_budget(
        needed=(len(items) * max_assignments + n_twice)
        * (hit_type.reward_cents + fee_cents),
        approved=budget_cents,
    )
    campaign = Campaign.objects.create(
        key=key,
        pool_id=pool,
        title=title,
        hit_type=shared_hit_type(hit_type),
        platform=platform,
        exposure=exposure,
        budget_cents=budget_cents,
        fee_cents=fee_cents,
        answers_per_hit=max_assignments,
        seed=seed,
        simulated=simulated,
        starts_at=starts_at,
    )
    # A separate seed: other draws use the campaign's, and must not follow the order.
    add_hits(campaign, items, max_assignments, seed=seed_from("order of HITs", seed))
    drawn = generator(seed_from("rated twice", seed)).permutation(len(items))[:n_twice]
    add_slots(campaign.hits.filter(position__in=drawn.tolist()), 1)
    return campaign


def shared_hit_type(spec: HITTypeSpec) -> HITType:
    fields = asdict(spec)
    canonical = json.dumps(fields, sort_keys=True)
    hit_type, _ = HITType.objects.get_or_create(
        fingerprint=hashlib.sha256(canonical.encode()).hexdigest(), defaults=fields
    )
    return hit_type


def order_of_hits(items: Sequence[ItemSpec], seed: int) -> list[int]:
    """Return item indices in the order of the HITs of a campaign with this seed."""
    # A separate seed: other draws use the campaign's, and must not follow the order.
    return permute_items(items, seed_from("order of HITs", seed))


def permute_items(items: Sequence[ItemSpec], seed: int) -> list[int]:
    """Draw the order of items; parts of one document stay together and in order."""
    drawn = [int(i) for i in generator(seed).permutation(len(items))]
    documents = [(item.data.get(DOCUMENT), item.key) for item in items]
    of = [(name, "") if name else (None, key) for name, key in documents]
    place = {i: at for at, i in enumerate(drawn)}
    first: dict[tuple[str | None, str], int] = {}
    for i in drawn:
        first.setdefault(of[i], place[i])
    return sorted(
        drawn, key=lambda i: (first[of[i]], items[i].data.get(PART, 0), place[i])
    )


def add_hits(
    campaign: Campaign,
    items: Sequence[ItemSpec],
    max_assignments: int,
    *,
    seed: int,
    start: int = 0,
) -> None:
    shuffled = [items[i] for i in permute_items(items, seed)]
    inputs = inputs_for(campaign, [item.content_key for item in items])
    hits = HIT.objects.bulk_create(
        [
            HIT(
                campaign=campaign,
                input=inputs[spec.content_key],
                position=position,
                n_available=max_assignments,
                max_assignments=max_assignments,
            )
            for position, spec in enumerate(shuffled, start)
        ],
        batch_size=BATCH,
    )
    Item.objects.bulk_create(
        [
            Item(
                campaign=campaign,
                hit=hit,
                key=spec.key,
                data=dict(spec.data),
                content_key=spec.content_key,
            )
            for hit, spec in zip(hits, shuffled, strict=True)
        ],
        batch_size=BATCH,
    )
    if len(hits) >= MANY:
        count_anew(HIT, Item)


def _check(
    hit_type: HITTypeSpec,
    items: Sequence[ItemSpec],
    exposure: str,
    max_assignments: int,
) -> None:
    template = check_hit_type(hit_type)
    if not items:
        raise GenieError("A campaign needs at least one item.", code="no-items")
    if len({item.key for item in items}) < len(items):
        raise GenieError("Two items have the same key.", code="duplicate-item")
    if exposure not in EXPOSURES:
        raise GenieError(
            f"Exposure must be one of {', '.join(EXPOSURES)}, not {exposure!r}.",
            code="unknown-exposure",
        )
    if max_assignments < 1:
        raise GenieError(
            "A HIT needs at least one assignment.", code="too-few-assignments"
        )
    _check_items(hit_type, template, items)


def check_hit_type(hit_type: HITTypeSpec) -> HITTemplate:
    """Refuse what no page can ask, whatever the items; return the template.

    Raises
    ------
    GenieError
        In one sentence, the settings that conflict.
    """
    template = hit_templates.get(hit_type.template)
    if hit_type.scale not in all_scales():
        raise GenieError(
            f"There is no scale {hit_type.scale!r}. Choose from: "
            f"{', '.join(all_scales())}.",
            code="unknown-scale",
        )
    if not hit_type.criteria:
        raise GenieError("A HIT needs at least one question.", code="no-criteria")
    if any(len(criterion) > CRITERION_CHARACTERS for criterion in hit_type.criteria):
        raise GenieError(
            f"A criterion's name can have at most {CRITERION_CHARACTERS} characters.",
            code="criterion-too-long",
        )
    _check_form(hit_type, template)
    return template


def _check_form(hit_type: HITTypeSpec, template: HITTemplate) -> None:
    if any("@" in name or name == SPANS for name in hit_type.criteria):
        raise GenieError(
            f"A criterion cannot be called {SPANS!r} or have @ in its name.",
            code="unusable-criterion",
        )
    compares = all_scales()[hit_type.scale].compares
    if compares and not template.shows_outputs:
        raise GenieError(
            f"The scale {hit_type.scale} compares two outputs, but the HIT template "
            f"{template.slug} shows only one.",
            code="unusable-scale",
        )
    form = read_form(hit_type.form, hit_type.criteria)
    one_by_one = template.shows_outputs and not compares
    if one_by_one and form.before_input:
        raise GenieError(
            "Outputs that are rated one by one must have all criteria with the input "
            "or all without it; put the criteria into separate campaigns (setup 2).",
            code="unusable-form",
        )
    if form.checkboxes and (compares or not form.shows_input):
        raise GenieError(
            "Checkboxes for added and missed information need a single output shown "
            "with its input.",
            code="unusable-form",
        )


def _check_items(
    hit_type: HITTypeSpec, template: HITTemplate, items: Sequence[ItemSpec]
) -> None:
    compares = all_scales()[hit_type.scale].compares
    for item in items:
        template.check(item.data)
        slots = slots_of(item.data)
        if slots and (not template.shows_outputs or (compares and slots != ["A", "B"])):
            raise GenieError(
                "An item's outputs do not fit: a comparison needs the slots A and B, "
                "and other templates show only one output.",
                code="unusable-item",
            )


def _check_budget(*, needed: int, approved: int) -> None:
    if needed > approved:
        raise GenieError(
            f"The campaign costs ${needed / 100:,.2f}, but only "
            f"${approved / 100:,.2f} were approved for it.",
            code="over-budget",
            details={"needed_cents": needed, "approved_cents": approved},
        )


@dataclass(frozen=True)
class Room:
    left_cents: int
    unit_cents: int

    @property
    def n_assignments(self) -> int | None:
        if self.unit_cents == 0:
            return None
        return max(0, self.left_cents // self.unit_cents)


def room(campaign: Campaign) -> Room:
    committed = campaign_progress(campaign).committed_cents
    return Room(campaign.budget_cents - committed, unit_cents(campaign))


@transaction.atomic
def extend(
    campaign_pk: int, items: Sequence[ItemSpec], *, max_assignments: int = 1
) -> int:
    """Add a HIT for each new item; return how many were added.

    They come after the present HITs, in an order that the campaign's seed determines
    and the rows store.

    Raises
    ------
    GenieError
        ``campaign-over`` if no one would be asked, ``over-budget`` if the campaign's
        budget does not cover all of them.
    """
    # Locked to the end, so that two waves cannot both use the same budget.
    campaign = (
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .get(pk=campaign_pk)
    )
    if campaign.state not in {Campaign.State.RUNNING, Campaign.State.SCHEDULED}:
        raise GenieError("The campaign has ended.", code="campaign-over")
    known = set(campaign.items.values_list("key", flat=True))
    new = [item for item in items if item.key not in known]
    template = hit_templates.get(campaign.hit_type.template)
    for item in new:
        template.check(item.data)
    affordable = room(campaign).n_assignments
    if affordable is not None and len(new) * max_assignments > affordable:
        raise GenieError(
            f"{len(new) * max_assignments:,} more assignments are needed, but the "
            f"campaign's budget pays for only {affordable:,}.",
            code="over-budget",
        )
    last = campaign.hits.aggregate(last=Max("position"))["last"]
    start = 0 if last is None else last + 1
    add_hits(
        campaign,
        new,
        max_assignments,
        # The position is part of the seed, so each wave has a separate order.
        seed=seed_from("order of HITs", campaign.seed, start),
        start=start,
    )
    return len(new)


# The places in a HIT: taken by one compare-and-set, freed by another.
#
# Of a HIT's places, `n_available` can be taken now and `max_assignments` exist. Both
# change by a conditional UPDATE, never by reading and then writing, so they need no lock.
State = Assignment.State


def take_slot(hit_pk: int, *conditions: RawSQL) -> bool:
    return bool(
        HIT.objects.filter(*conditions, pk=hit_pk, n_available__gt=0).update(
            n_available=F("n_available") - 1
        )
    )


def free_slot(hit_pk: int) -> None:
    HIT.objects.filter(pk=hit_pk).update(n_available=F("n_available") + 1)


def add_slot(hit_pk: int) -> None:
    HIT.objects.filter(pk=hit_pk).update(
        n_available=F("n_available") + 1, max_assignments=F("max_assignments") + 1
    )


def add_slots(hits: QuerySet[HIT], n: int) -> None:
    hits.update(
        n_available=F("n_available") + n, max_assignments=F("max_assignments") + n
    )


def withdraw_slot(hit_pk: int) -> bool:
    """Close one open place for good, if there is one."""
    # A HIT keeps its original place; only places opened by `add` are closed.
    return bool(
        HIT.objects.filter(pk=hit_pk, n_available__gt=0, max_assignments__gt=1).update(
            n_available=F("n_available") - 1, max_assignments=F("max_assignments") - 1
        )
    )


def close_free_slots(hits: QuerySet[HIT]) -> int:
    open_now = hits.filter(n_available__gt=0)
    n = open_now.aggregate(n=Sum("n_available"))["n"] or 0
    open_now.update(
        max_assignments=F("max_assignments") - F("n_available"), n_available=0
    )
    return int(n)


def take_back_slot(assignment_pk: int, hit_pk: int, state: Assignment.State) -> bool:
    """End an open assignment without an answer; its place is free again, once.

    The other assignments of its page end, too. Callers open the transaction.
    """
    ended = Assignment.objects.filter(pk=assignment_pk, state=State.ACCEPTED).update(
        state=state
    )
    if ended:
        free_slot(hit_pk)
        # Code that adds to a page or submits it locks the row that was just changed.
        with_it = Assignment.objects.filter(page=assignment_pk)
        for pk, hit in with_it.values_list("pk", "hit_id"):
            take_back_slot(pk, hit, state)
    return bool(ended)
