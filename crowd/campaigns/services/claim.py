"""Hand out the next HIT: one open page per worker, no input seen twice.

The search for a HIT is slow and holds no lock. Taking it is short, in a transaction
that checks the result again. Three things make that safe: a worker can have one open
page and one assignment of a HIT (constraints of the table), and a place is taken by an
UPDATE that fails if none is left (`slots`).
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from crowd.campaigns.selectors.turns import Turn, turns
from crowd.campaigns.services import preference, reservations
from crowd.hit_templates.form import DOCUMENT
from crowd.hits.models import HIT, Assignment, Campaign, Item
from crowd.hits.selectors import form_of, language_now
from crowd.hits.services import slots
from crowd.platforms.selfhosted import SelfHosted
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.eligible import (
    CANDIDATES,
    campaigns_for,
    candidates,
    is_open,
    unseen_hits,
)
from crowd.workers.selectors.shares import used_up
from genie.lib.database import prepare

# Keep workers on the document they began, and other workers off it.
#
# Parts of a document are neighbors in their campaign. Without this, two workers at the
# same time would get alternating pages of one document.
# Workers keep a document for this long after their last page of it.
KEPT = timedelta(minutes=30)
_OF_ITEM = f"data__{DOCUMENT}"
_OF_HIT = f"items__{_OF_ITEM}"


def preferred(worker: Worker, campaign: Campaign, hits: Sequence[int]) -> Sequence[int]:
    if not form_of(campaign.hit_type).by_document:
        return hits
    unseen = unseen_hits(worker, campaign)
    theirs, others = _documents(worker, campaign)
    for rows in (
        unseen.filter(**{_OF_HIT: theirs}) if theirs else unseen.none(),
        unseen.exclude(**{f"{_OF_HIT}__in": others}) if others else unseen.none(),
    ):
        if found := list(rows.values_list("pk", flat=True)[:CANDIDATES]):
            return found
    return hits


def _documents(worker: Worker, campaign: Campaign) -> tuple[str, list[str]]:
    since = timezone.now() - KEPT
    last = Assignment.objects.filter(worker=worker, hit__campaign=campaign)
    hit = last.order_by("-pk").values_list("hit", flat=True).first()
    theirs = Item.objects.filter(hit=hit).values_list(_OF_ITEM, flat=True).first()
    begun = Item.objects.filter(
        campaign=campaign, hit__assignments__accepted_at__gt=since
    ).exclude(hit__assignments__worker=worker)
    others = {
        name for name in begun.values_list(_OF_ITEM, flat=True).distinct() if name
    }
    return str(theirs or ""), sorted(others)


State = Assignment.State
# An answer that was being sent when time ran out still counts.
GRACE = timedelta(minutes=2)
# How often to search again after other workers were faster.
ROUNDS = 20
_read_open_page = prepare(
    lambda worker: Assignment.objects.filter(
        worker=worker, state=State.ACCEPTED, page=None
    ).select_related("hit__campaign__hit_type")
)
_read_newest = prepare(
    lambda worker: (
        Assignment.objects.filter(worker=worker)
        .order_by("-pk")
        .values_list("pk", "state")[:1]
    )
)


def next_assignment(
    worker: Worker, pool: str | None = None, *, only: Campaign | None = None
) -> Assignment | None:
    """Return the open assignment, or claim a HIT; None if there is no work.

    With `pool`, new work comes from that pool only. With `only`, it comes from that
    campaign, for workers who came by its link. The search runs outside a transaction;
    the claim runs in a short one that first checks that nothing has changed.
    """
    now = timezone.now()
    for _ in range(ROUNDS):
        # The last assignment when the search began. `_claim` checks that it still is: a
        # worker with an open HIT has got no other since.
        newest, state = next(iter(_read_newest(worker.pk)), (0, ""))
        rows = _read_open_page(worker.pk) if state == State.ACCEPTED else []
        current = next(iter(rows), None)
        if current is not None and current.deadline_at > now - GRACE:
            return current
        if current is not None:
            with transaction.atomic():
                slots.take_back(current.pk, current.hit_id, State.EXPIRED)
        order = turns(worker, campaigns_for(worker, pool, only))
        candidate = candidates(worker, [turn.campaign for turn in order])
        if candidate is None:
            return None
        campaign, hits = candidate
        turn = next(turn for turn in order if turn.campaign == campaign)
        kept = preferred(worker, campaign, hits)
        hits = preference.preferred(worker, campaign, kept)
        claimed = _claim(worker, turn, hits, newest, now)
        if claimed is not None:
            found = [turn.campaign for turn in order]
            claimed.in_turns = [c for c in found if c.pool == campaign.pool]
            return claimed
    return None


@transaction.atomic
def fill(
    worker: Worker, first: Assignment, n: int, among: Collection[int] | None = None
) -> None:
    """Add HITs to a page that was just handed out, at most `n`.

    Each HIT comes in its turn if its page would look alike, test questions as usual.
    `among` restricts the HITs of the page's campaign.
    """
    locked = Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
    rows = Assignment.objects.filter(pk=first.pk, state=State.ACCEPTED)
    # A request that sends or returns the page waits here or is already done.
    if not rows.select_for_update(of=("self",)).exists():
        return
    campaigns = first.in_turns if among is None else None
    open_ones = {first.hit.campaign_id}  # It was open a moment ago.
    for _ in range(n - 1):
        turn, hits = _next_on_page(
            locked, first, campaigns or [first.hit.campaign], among
        )
        if turn is None:
            return
        campaign = turn.campaign
        if campaign.pk not in open_ones:
            if not is_open(locked, campaign):
                return
            if not reservations.may_take(campaign, locked):
                return
            open_ones.add(campaign.pk)
        if not any(_taken(locked, turn, pk, first) for pk in hits):
            return


def _next_on_page(
    worker: Worker,
    first: Assignment,
    campaigns: Sequence[Campaign],
    among: Collection[int] | None,
) -> tuple[Turn | None, Sequence[int]]:
    done = used_up(worker, campaigns)
    order = turns(worker, [one for one in campaigns if one.pk not in done])
    candidate = candidates(worker, [turn.campaign for turn in order])
    if candidate is None:
        return None, []
    campaign, hits = candidate
    if among is not None:
        unseen = unseen_hits(worker, campaign).filter(pk__in=among)
        hits = list(unseen.values_list("pk", flat=True)[:CANDIDATES])
    if not hits or campaign.hit_type_id != first.hit.campaign.hit_type_id:
        return None, []
    turn = next(turn for turn in order if turn.campaign == campaign)
    return turn, preference.preferred(worker, campaign, hits, among or ())


def _taken(worker: Worker, turn: Turn, pk: int, first: Assignment) -> bool:
    kind = turn.campaign.hit_type
    if language_now(kind, pk) != first.language or not slots.take(pk):
        return False
    turn.keep()
    Assignment.objects.create(
        hit=HIT(pk=pk, campaign=turn.campaign),
        worker=worker,
        reward_cents=kind.reward_cents,
        accepted_at=first.accepted_at,
        deadline_at=first.deadline_at,
        language=first.language,
        page=first,
    )
    return True


def first_of(assignment: Assignment) -> Assignment:
    return assignment.page or assignment


def open_assignment(worker: Worker, now: datetime) -> Assignment | None:
    current = next(iter(_read_open_page(worker.pk)), None)
    return current if current and current.deadline_at > now - GRACE else None


@transaction.atomic
def _claim(
    worker: Worker, turn: Turn, hits: list[int], newest: int, now: datetime
) -> Assignment | None:
    """Claim the first HIT that is still free; None if things have changed.

    Checks again what was found without a lock: the campaign must still be open to the
    worker, and the worker must have got no assignment since `newest`.
    """
    campaign = turn.campaign
    # Two tabs of one worker take turns here; the second checks again.
    locked = Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
    if not is_open(locked, campaign, newest=newest):
        return None
    for pk in hits:
        if not slots.take(pk):
            continue  # Another worker was faster.
        # Only after a HIT is found, because this check reserves the campaign.
        if not reservations.may_take(campaign, locked):
            slots.free(pk)
            return None
        turn.keep()
        return Assignment.objects.create(
            hit=HIT(pk=pk, campaign=campaign),
            worker=locked,
            reward_cents=campaign.hit_type.reward_cents,
            accepted_at=now,
            deadline_at=now + time_for(campaign),
            language=language_now(campaign.hit_type, pk),
        )
    return None


def per_page(campaign: Campaign) -> int:
    """Return how many HITs share a page; always one on other platforms."""
    if campaign.platform != SelfHosted.slug:
        return 1
    return form_of(campaign.hit_type).items_per_page


def time_for(campaign: Campaign) -> timedelta:
    """Return the time limit of a page: the sum over its HITs."""
    return timedelta(seconds=campaign.hit_type.assignment_seconds * per_page(campaign))
