"""Hand out the next HIT: one open page per worker, no input seen twice.

The search for a HIT is slow and holds no lock. Taking it is short, in a transaction
that checks the result again. Three things make that safe: a worker can have one open
page and one assignment of a HIT (constraints of the table), and a place is taken by an
UPDATE that fails if none is left (`slots`).
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from crowd.campaigns.selectors.reading_pace import n_words
from crowd.campaigns.selectors.starved import Turn, turns
from crowd.hit_templates.form import DOCUMENT, PART
from crowd.hits.models import HIT, Assignment, Campaign, Item, Reservation
from crowd.hits.selectors import (
    form_of,
    language_now,
    language_of,
    questions_about,
    translate_hit_type,
)
from crowd.hits.services.build import free_slot, take_back_slot, take_slot
from crowd.hits.services.check_answers import Answers, CheckedRating, parse_ratings
from crowd.platforms.selfhosted import SelfHosted
from crowd.workers.models.worker import Exclusion, Worker
from crowd.workers.selectors.eligible import (
    CANDIDATES,
    campaigns_for,
    candidates,
    first_unseen,
    is_open,
    still_open,
    unseen_hits,
    used_up,
)
from genie.lib.database import prepare
from genie.lib.errors import GenieError

# Choosers that decide which of the available HITs a worker gets first.
#
# This app hands out HITs in order. The app above may prefer another order and registers a
# chooser here; this app does not know its reasons.
#: Gets the worker, the campaign and the keys of the HITs to choose from, none for all;
#: returns the keys of those to try, in order. None: no preference. Empty: none from this
#: pool now. The chooser makes sure that the next search skips the pool.
Chooser = Callable[[Worker, Campaign, Collection[int]], Sequence[int] | None]

_choosers: dict[str, Chooser] = {}


def register_chooser(name: str, chooser: Chooser) -> None:
    """Register a chooser to call for each handed-out HIT; one per name."""
    _choosers[name] = chooser


def prefer_hits(
    worker: Worker, campaign: Campaign, hits: Sequence[int], among: Collection[int] = ()
) -> list[int]:
    for chooser in _choosers.values():
        chosen = chooser(worker, campaign, among)
        if chosen is not None:
            return list(chosen)
    return list(hits)


# Reserve a campaign for one worker: the first to take a HIT of it.
PASSED_ON = (
    "The worker for whom this campaign was reserved did not continue, so other "
    "workers may take it. Its answers come from more than one person."
)


def reserve_for_one_worker(campaign: Campaign) -> None:
    Reservation.objects.get_or_create(campaign=campaign)
    Campaign.objects.filter(pk=campaign.pk).update(
        worker_share=None, share_follows_crowd=False, hits_per_worker=None
    )


def may_take(campaign: Campaign, worker: Worker) -> bool:
    """Check whether the worker may take work of the campaign; reserve it for the first.

    Callers open the transaction; concurrent workers wait for each other here.
    """
    # Without a reservation the campaign is open to all. It is created with the
    # campaign.
    rows = Reservation.objects.filter(campaign=campaign)
    if not rows.exists():
        return True
    return bool(rows.filter(Q(worker=None) | Q(worker=worker)).update(worker=worker))


def give_up_reservation(campaign: Campaign) -> None:
    excluded = Exclusion.objects.filter(pool=campaign.pool_id).values("worker")
    Reservation.objects.filter(
        Q(worker__in=excluded) | Q(worker__excluded=True), campaign=campaign
    ).update(worker=None)


def pass_on_reservation(campaign: Campaign, now: datetime | None = None) -> bool:
    """Open the campaign to another worker if its worker will not finish; tell staff.

    That is the case if they have taken no work of it for the site's
    `RESERVATION_HOURS`, or may take none of what is left.
    """
    now = now or timezone.now()
    if campaign.state != Campaign.State.RUNNING:
        return False
    with transaction.atomic():
        reservation = (
            Reservation.objects.select_for_update(of=("self",))
            .filter(campaign=campaign, worker__isnull=False)
            .first()
        )
        if reservation is None or reservation.worker is None:
            return False
        if not _waits_in_vain(campaign, reservation.worker, now):
            return False
        reservation.worker = None
        reservation.save(update_fields=["worker"])
        _tell_staff(campaign)
    return True


def _waits_in_vain(campaign: Campaign, worker: Worker, now: datetime) -> bool:
    if not campaign.hits.filter(n_available__gt=0).exists():
        return False
    assignments = Assignment.objects.filter(worker=worker, hit__campaign=campaign)
    if assignments.filter(state=Assignment.State.ACCEPTED).exists():
        return False
    if not first_unseen(worker.pk, campaign.pk):
        return True
    times = assignments.aggregate(
        took_at=Max("accepted_at"), sent_at=Max("submitted_at")
    )
    last_work_at = max(filter(None, times.values()), default=campaign.starts_at)
    return last_work_at <= now - timedelta(hours=settings.GENIE["RESERVATION_HOURS"])


def _tell_staff(campaign: Campaign) -> None:
    notice = Campaign.objects.values_list("notice", flat=True).get(pk=campaign.pk)
    if PASSED_ON not in notice:
        Campaign.objects.filter(pk=campaign.pk).update(
            notice=f"{PASSED_ON} {notice}".strip()[:600]
        )


# Keep workers on the document they began, and other workers off it.
#
# Parts of a document are neighbors in their campaign. Without this, two workers at the
# same time would get alternating pages of one document.

# Workers keep a document for this long after their last page of it.
KEPT = timedelta(minutes=30)
_OF_ITEM = f"data__{DOCUMENT}"
_OF_HIT = f"items__{_OF_ITEM}"


def prefer_documents(
    worker: Worker, campaign: Campaign, hits: Sequence[int]
) -> Sequence[int]:
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
    worker: Worker,
    pool: str | None = None,
    *,
    only: Campaign | None = None,
    answered: int | None = None,
) -> Assignment | None:
    """Return the open assignment, or claim a HIT; None if there is no work.

    With `pool`, new work comes from that pool only. With `only`, it comes from that
    campaign, for workers who came by its link. `answered` is the key of the assignment
    that was just sent, most likely their newest. The search runs outside a transaction;
    the claim runs in a short one that also checks that nothing has changed.
    """
    now = timezone.now()
    for _round in range(ROUNDS):
        # The last assignment when the search began. `_claim` checks that it still is: a
        # worker with an open HIT has got no other since.
        presumed, answered = answered, None
        newest, state = (
            (presumed, State.SUBMITTED)
            if presumed
            else next(iter(_read_newest(worker.pk)), (0, ""))
        )
        rows = _read_open_page(worker.pk) if state == State.ACCEPTED else []
        current = next(iter(rows), None)
        if current is not None and current.deadline_at > now - GRACE:
            return current
        if current is not None:
            with transaction.atomic():
                take_back_slot(current.pk, current.hit_id, State.EXPIRED)
        order = turns(worker, campaigns_for(worker, pool, only))
        candidate = candidates(worker, [turn.campaign for turn in order])
        if candidate is None and presumed:
            continue  # They may have a page open already.
        if candidate is None:
            return None
        campaign, hits = candidate
        turn = next(turn for turn in order if turn.campaign == campaign)
        hits = prefer_hits(worker, campaign, prefer_documents(worker, campaign, hits))
        claimed = _claim(worker, turn, hits, newest, now)
        if claimed is not None:
            found = [turn.campaign for turn in order]
            claimed.in_turns = [c for c in found if c.pool_id == campaign.pool_id]
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
    for _more in range(n - 1):
        turn, hits = _next_on_page(
            locked, first, campaigns or [first.hit.campaign], among
        )
        if turn is None:
            return
        campaign = turn.campaign
        if campaign.pk not in open_ones:
            if not is_open(locked, campaign):
                return
            if not may_take(campaign, locked):
                return
            open_ones.add(campaign.pk)
        if not any(_take(locked, turn, pk, first) for pk in hits):
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
    return turn, prefer_hits(worker, campaign, hits, among or ())


def _take(worker: Worker, turn: Turn, pk: int, first: Assignment) -> bool:
    kind = turn.campaign.hit_type
    if language_now(kind, pk) != first.language or not take_slot(pk):
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
    return next(
        (one for one in _read_open_page(worker.pk) if one.deadline_at > now - GRACE),
        None,
    )


@transaction.atomic
def _claim(
    worker: Worker, turn: Turn, hits: list[int], newest: int, now: datetime
) -> Assignment | None:
    """Claim the first HIT that is still free; None if things have changed.

    Checks again what was found without a lock: the campaign must still be open to the
    worker, and the worker must have got no assignment since `newest`.
    """
    campaign = turn.campaign
    # Two tabs of one worker take turns here; the second checks again. On SQLite the
    # transaction itself is the lock.
    if connection.features.has_select_for_update:
        Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
    unchanged = still_open(worker, campaign, newest)
    for pk in hits:
        if not take_slot(pk, unchanged):
            continue  # Another worker was faster, or it is not open any more.
        # Only after a HIT is found, because this check reserves the campaign.
        if campaign.is_reserved and not may_take(campaign, worker):
            free_slot(pk)
            return None
        turn.keep()
        return Assignment.objects.create(
            hit=HIT(pk=pk, campaign=campaign),
            worker=worker,
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


# Pages with several HITs: each HIT is paid and reviewed separately.
#
# The first assignment of a page represents it: code that adds to the page, submits it or
# returns it changes or locks that row first, so these happen one after another.
Page = Sequence[Assignment]


def next_page(worker: Worker, pool: str | None = None, answered: Page = ()) -> Page:
    """Return the open page, or hand one out; None if there is no work."""
    last = max((one.pk for one in answered), default=None)
    first = next_assignment(worker, pool, answered=last)
    if first is None:
        return []
    n = per_page(first.hit.campaign)
    # Campaigns are known only if the page was handed out just now.
    if n > 1 and first.in_turns is not None:
        fill(worker, first, n, _of_document(first))
    return page_of(first)


def page_of(assignment: Assignment) -> Page:
    first = first_of(assignment)
    form = form_of(first.hit.campaign.hit_type)
    # An old page may be shown after its campaign has changed.
    if form.items_per_page == 1 and assignment.page_id is None:
        return [first]
    rows = Assignment.objects.filter(Q(pk=first.pk) | Q(page=first.pk))
    page = list(
        rows.filter(worker=first.worker_id)
        .select_related("hit__campaign__hit_type")
        .prefetch_related("hit__items")
        .order_by("pk")
    )
    page[0].in_turns = first.in_turns
    return sorted(page, key=_place) if form.by_document else page


def checked_page(page: Page, answers: Sequence[Answers]) -> list[list[CheckedRating]]:
    rated = []
    for number, (one, sent) in enumerate(zip(page, answers, strict=True), 1):
        try:
            rated.append(parse_ratings(one, sent))
        except GenieError as error:
            if len(page) == 1:
                raise
            raise _add_number(error, one, number, len(page)) from error
    return rated


def _add_number(error: GenieError, one: Assignment, number: int, n: int) -> GenieError:
    hit_type = translate_hit_type(one.hit.campaign.hit_type, language_of(one))
    asked = [
        question.text
        for item in one.hit.items.all()
        for question in questions_about(hit_type, item.data)
        if question.key == error.details.get("criterion")
    ]
    sentence = (
        _("Item %(number)d of %(n)d: please answer “%(question)s”")
        if error.code == "answer-missing" and asked
        else _("Item %(number)d of %(n)d: %(problem)s")
    )
    said = {"problem": error.message, "question": asked[0] if asked else ""}
    return GenieError(
        sentence % {**said, "number": number, "n": n},
        code=error.code,
        details={**error.details, "number": number},
    )


def hold_page(page: Page) -> None:
    """Lock a page until the transaction ends, so that no HIT is added.

    Raises
    ------
    GenieError
        ``page-has-grown`` if more HITs are on it than were shown.
    """
    first = first_on(page)
    if first.hit.campaign.hit_type.form.get("items_per_page", 1) == 1:
        return
    rows = Assignment.objects.select_for_update(of=("self",)).order_by("pk")
    list(rows.filter(pk=first.pk).values_list("pk"))
    with_it = Assignment.objects.filter(page=first.pk).values_list("pk", flat=True)
    if {first.pk, *with_it} != {one.pk for one in page}:
        raise _grown()


def page_names(page: Page) -> str:
    """Return the ids of a page's HITs, which the page sends back with its answers."""
    return ",".join(str(one.pk) for one in page)


def refuse_other(page: Page, shown: str | None) -> None:
    """Refuse answers to a page to which HITs were added since.

    Answers are matched by position, so one could be taken for that of another item.
    """
    if shown is not None and shown != page_names(page):
        raise _grown()


def _grown() -> GenieError:
    return GenieError(
        _("This page has new items. Reload it; your answers are kept."),
        code="page-has-grown",
    )


def shares_of_time(page: Page) -> dict[int, float]:
    """Split a page's active time among its assignments by the length of their texts."""
    if len(page) == 1:
        return {page[0].pk: 1.0}
    words = {
        one.pk: 1 + sum(n_words(item.data) for item in one.hit.items.all())
        for one in page
    }
    return {pk: n / sum(words.values()) for pk, n in words.items()}


def first_on(page: Page) -> Assignment:
    return next(one for one in page if one.page_id is None)


def _of_document(first: Assignment) -> list[int] | None:
    hit = first.hit
    if not form_of(hit.campaign.hit_type).by_document:
        return None
    data = hit.items.values_list("data", flat=True).first() or {}
    document = data.get(DOCUMENT)
    if not document:
        return []
    alike = HIT.objects.filter(
        campaign=hit.campaign, **{f"items__data__{DOCUMENT}": document}
    )
    return list(alike.values_list("pk", flat=True))


def _place(assignment: Assignment) -> tuple[int, int]:
    parts = [item.data.get(PART, 0) for item in assignment.hit.items.all()]
    return min(parts, default=0), assignment.pk
