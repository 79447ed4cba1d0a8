"""Keep the offer on a platform in line with our rows: post, extend and close.

For platforms that hand out HITs and take the answers themselves, such as Mechanical
Turk; `study` is for those that only send people. Our rows hold how many places each HIT
has, the outward calls how many the platform knows of. The difference is sent next, so
all this may stop and resume anywhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core import signing
from django.db.models import Count
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe

from crowd.campaigns.services import outbox
from crowd.elsewhere.models import ExternalCampaign, OutwardCall
from crowd.elsewhere.services import retype
from crowd.hits.models import HIT, Assignment, Campaign, HITType, Item
from crowd.hits.selectors import (
    campaign_progress,
    language_for,
    offer_name,
    template_of,
    translate_hit_type,
    unit_cents,
)
from crowd.platforms.base import (
    CampaignSpec,
    ExternalRef,
    HITSpec,
    MoreSpec,
    Platform,
    Result,
    Sent,
)
from crowd.pricing import dollars
from crowd.workers.services.requirements import requirements_of
from genie.lib.errors import GenieError
from genie.lib.unguessable import name_for, names_for

# A HIT as one self-contained page, which platforms show in a frame.
STYLES = ("worker/question.css", "worker/elsewhere.css")
SCRIPT = "worker/elsewhere.js"
PAGE = "worker/page.js"
SLIDER = "worker/slider.js"
MARKS = "worker/marks.js"
SALT = "crowd.hit-page"


@dataclass(frozen=True)
class Pages:
    show: Callable[[HITType, Item, Mapping[str, str], int], Any]
    read: Callable[[Any], dict[str, str]]

    def answers(
        self, hit_type: HITType, hit: HIT, fields: Mapping[str, str]
    ) -> dict[str, dict[str, str]]:
        answers_of_items: dict[str, dict[str, str]] = {}
        for i, item in enumerate(hit.items.all()):
            shown = self.show(hit_type, item, fields, i)
            if raw_answers := self.read(shown):
                answers_of_items[item.key] = raw_answers
        return answers_of_items


def page_of(
    hit_type: HITType,
    hit: HIT,
    pages: Pages,
    nonce: str = "",
    wanted: str | None = None,
) -> str:
    """Render a HIT with its style and scripts inlined; the page fetches nothing.

    The nonce allows exactly these scripts if we serve the page. The page is in the
    wanted language if possible. A posted page is in the task's language, because its
    readers are not known.
    """
    items = hit.items.all()
    language = language_for(hit_type, wanted, [item.data for item in items])
    with translation.override(language):
        return page_of_items(
            translate_hit_type(hit_type, language), items, pages, nonce
        )


def page_of_items(
    hit_type: HITType, of: Iterable[Item], pages: Pages, nonce: str = ""
) -> str:
    template = template_of(hit_type)
    items = [pages.show(hit_type, item, {}, i) for i, item in enumerate(of)]
    scripts = [PAGE, SCRIPT, SLIDER] + ([MARKS] if template.marks_errors else [])
    return render_to_string(
        "worker_site/elsewhere.html",
        {
            "hit_type": hit_type,
            "from_right": hit_type.language in settings.LANGUAGES_BIDI,
            "instructions": template.instructions_of(hit_type.form),
            "items": items,
            "styles": [_inside(name) for name in STYLES],
            "scripts": [_inside(name) for name in scripts],
            "nonce": nonce,
        },
    )


def address_of(hit: HIT) -> str:
    """Return the address at which we serve the page; empty if it cannot be opened.

    It reveals the HIT to anyone who has it, and cannot be guessed.
    """
    site = str(settings.GENIE["SITE_URL"]).rstrip("/")
    # Platforms show our page in a frame, and browsers put no http page into an https
    # one.
    if not site.startswith("https://"):
        return ""
    token = signing.dumps(hit.pk, name_for("posted"), salt=SALT)
    return f"{site}{reverse('work:elsewhere', args=[token])}"


def hit_of(token: str) -> HIT | None:
    newest, *former = names_for("posted")
    try:
        pk = signing.loads(token, newest, salt=SALT, fallback_keys=[*former])
    except signing.BadSignature:
        return None
    return HIT.objects.select_related("campaign__hit_type").filter(pk=pk).first()


def _inside(name: str) -> SafeString:
    path = finders.find(name)
    if not isinstance(path, str):
        raise GenieError(f"The file {name} is missing.", code="file-missing")
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - finders give strings
        text = file.read()
    # Either would end its element early, and the rest would appear as text.
    if "</script" in text.lower() or "</style" in text.lower():
        raise GenieError(f"{name} cannot be embedded in a page.", code="file-unusable")
    return mark_safe(text)  # noqa: S308 - our own file


Kind = OutwardCall.Kind
Taken = list[tuple[OutwardCall, Sent]]
OFFERED = (Campaign.State.RUNNING,)
# A platform approves automatically only some time after we would.
MARGIN = timedelta(hours=24)
# HITs live for fourteen days (`CampaignSpec.lifetime_seconds`) unless they are renewed.
RENEW = timedelta(days=10)
# Rows are marked and sent in portions, so that a stop button does not wait for all.
PORTION = 200


def advance(
    campaign: Campaign,
    place: ExternalCampaign,
    platform: Platform,
    pages: Pages,
    now: datetime,
) -> None:
    if campaign.state in OFFERED:
        _offer(campaign, place, platform, pages, now)
    elif place.is_open or outbox.due(campaign, Kind.CLOSE).exists():
        _withdraw(campaign, place, platform, pages, now)


def ref_of(campaign: Campaign, place: ExternalCampaign) -> ExternalRef:
    names = outbox.posted_hits(campaign)[0]
    return ExternalRef(place.platform_id, {str(pk): name for pk, name in names.items()})


def _offer(
    campaign: Campaign,
    place: ExternalCampaign,
    platform: Platform,
    pages: Pages,
    now: datetime,
) -> None:
    if not retype.is_published(campaign, place) and not _publish(
        campaign, place, platform, now
    ):
        return
    pending = outbox.due(campaign, Kind.CLOSE).first()
    if (
        pending is not None
    ):  # Half closed: make sure that it is closed, then open it again.
        _withdraw(campaign, place, platform, pages, now)
    if (not place.is_open and outbox.posted_hits(campaign)[0]) or _runs_out(
        campaign, now
    ):
        switch(campaign, place, platform, Kind.RESUME, now)
    retype.move(campaign, place, platform, now)
    _plan_places(campaign)
    calls = list(outbox.due(campaign, Kind.POST, Kind.EXTEND))
    if not calls or not _affordable(campaign, place, platform, calls):
        return
    # Stored before anything is sent: if the process dies now, the offer still counts as
    # open and will be closed.
    ExternalCampaign.objects.filter(pk=place.pk).update(is_open=True)
    _send(campaign, place, platform, pages, calls, now)


def _runs_out(campaign: Campaign, now: datetime) -> bool:
    done = OutwardCall.objects.filter(campaign=campaign, state=OutwardCall.State.DONE)
    first = done.filter(kind=Kind.POST).order_by("done_at").first()
    latest = done.filter(kind=Kind.RESUME).order_by("-done_at").first() or first
    return (
        latest is not None
        and latest.done_at is not None
        and now - latest.done_at > RENEW
    )


def _publish(
    campaign: Campaign, place: ExternalCampaign, platform: Platform, now: datetime
) -> bool:
    name = offer_name(campaign, campaign.hit_type_id)
    call = outbox.plan(campaign, Kind.PUBLISH, name)
    for taken, sent in outbox.take([call], now):
        result = platform.publish(spec_of(campaign, taken.key, sent))
        taken = outbox.note_result(taken, sent, result, now)
        ExternalCampaign.objects.filter(pk=place.pk).update(trouble=taken.trouble)
    return retype.is_published(campaign, place)


def spec_of(campaign: Campaign, key: str, sent: Sent) -> CampaignSpec:
    hit_type = campaign.hit_type
    hours = timedelta(hours=settings.GENIE["AUTO_APPROVAL_HOURS"])
    return CampaignSpec(
        key=key,
        title=hit_type.title,
        description=hit_type.description,
        keywords=hit_type.keywords,
        reward_cents=hit_type.reward_cents,
        assignment_seconds=hit_type.assignment_seconds,
        pool=campaign.pool_id,
        n_places=sum(campaign.hits.values_list("max_assignments", flat=True)),
        auto_approval_seconds=int((hours + MARGIN).total_seconds()),
        requirements=requirements_of(campaign),
        sent=sent,
    )


def _plan_places(campaign: Campaign) -> None:
    posted, n_places_told, given_up = outbox.posted_hits(campaign)
    done = _n_done(campaign)
    unit = unit_cents(campaign)
    calls = []
    for hit in campaign.hits.order_by("position"):
        # Free places here plus places used there should equal the places the platform
        # knows. The difference is sent next.
        told = n_places_told[hit.pk]
        lacking = hit.n_available + done.get(hit.pk, 0) - told
        is_new = hit.pk not in n_places_told
        if lacking <= 0 or hit.pk in given_up or not (is_new or hit.pk in posted):
            continue
        kind = Kind.POST if is_new else Kind.EXTEND
        # The count so far is part of the name, so the same extension planned twice is
        # one.
        key = outbox.key_of(kind, f"{hit.pk}" if is_new else f"{hit.pk}.{told}")
        call = OutwardCall(key=key, campaign=campaign, kind=kind, hit=hit, n=lacking)
        call.amount_cents = lacking * unit
        calls.append(call)
    OutwardCall.objects.bulk_create(calls, ignore_conflicts=True)


def _affordable(
    campaign: Campaign,
    place: ExternalCampaign,
    platform: Platform,
    calls: Sequence[OutwardCall],
) -> bool:
    progress = campaign_progress(campaign)
    if progress.committed_cents > progress.budget_cents:
        note_trouble(
            place,
            f"The work already posted costs {dollars(progress.committed_cents)}, more "
            f"than the budget of {dollars(progress.budget_cents)}. Nothing more is "
            "posted.",
        )
        return False
    needed = sum(call.amount_cents for call in calls if call.first_sent_at is None)
    balance = platform.balance_cents()
    ExternalCampaign.objects.filter(pk=place.pk).update(balance_cents=balance)
    if balance is not None and needed > balance:
        note_trouble(
            place,
            f"Posting needs {dollars(needed)}, but the account on the platform has "
            f"{dollars(balance)}. Add money to it; posting then continues "
            "automatically.",
        )
        return False
    return True


def _send(
    campaign: Campaign,
    place: ExternalCampaign,
    platform: Platform,
    pages: Pages,
    calls: Sequence[OutwardCall],
    now: datetime,
) -> None:
    ref = ref_of(campaign, place)
    trouble = ""
    for first in range(0, len(calls), PORTION):
        if not Campaign.objects.filter(pk=campaign.pk, state__in=OFFERED).exists():
            return  # Stopped while we were posting.
        portion = outbox.take(calls[first : first + PORTION], now)
        for result in _results(campaign, platform, pages, ref, portion, now):
            trouble = result.message if result.state != "done" else trouble
            if result.code == "no-funds":
                calls = calls[
                    : first + PORTION
                ]  # There is no money for the next portions.
    ExternalCampaign.objects.filter(pk=place.pk).update(trouble=trouble[:500])


def _results(
    campaign: Campaign,
    platform: Platform,
    pages: Pages,
    ref: ExternalRef,
    taken: Taken,
    now: datetime,
) -> Iterator[Result]:
    by_key = {call.key: (call, sent) for call, sent in taken}
    hits = _hits(taken)
    posts: dict[str, list[HITSpec]] = {}
    for call, sent in taken:
        if call.kind != Kind.POST:
            continue
        hit = hits[call.hit_id or 0]
        # HITs that may be out already have the type they were sent with.
        offer = ref.campaign_id
        if hit.posted_as_id is not None:
            offer = retype.offer_id(campaign, hit.posted_as_id) or offer
        spec = HITSpec(
            call.key,
            call.n,
            page=page_of(campaign.hit_type, hit, pages),
            url=address_of(hit),
            sent=sent,
        )
        posts.setdefault(offer, []).append(spec)
    more = [
        MoreSpec(
            call.key,
            ref.hit_ids[str(call.hit_id)],
            call.n,
            before=_places_before(call),
            sent=sent,
        )
        for call, sent in taken
        if call.kind == Kind.EXTEND
    ]
    sending = [
        platform.post(ExternalRef(offer, ref.hit_ids), specs)
        for offer, specs in posts.items()
    ]
    for result in chain(*sending, platform.add_capacity(ref, more)):
        call, sent = by_key[result.key]
        call = outbox.note_result(call, sent, result, now)
        if call.kind == Kind.POST and call.platform_id:
            HIT.objects.filter(pk=call.hit_id or 0).update(
                platform_hit_id=call.platform_id[:64]
            )
        yield result


def _hits(taken: Taken) -> dict[int, HIT]:
    pks = [call.hit_id or 0 for call, _ in taken if call.kind == Kind.POST]
    rows: Iterable[HIT] = HIT.objects.filter(pk__in=pks).prefetch_related("items")
    return {hit.pk: hit for hit in rows}


def _places_before(call: OutwardCall) -> int:
    rows = OutwardCall.objects.filter(
        hit=call.hit_id, kind__in=[Kind.POST, Kind.EXTEND], pk__lt=call.pk
    ).exclude(state=OutwardCall.State.FAILED)
    return sum(rows.values_list("n", flat=True))


def _withdraw(
    campaign: Campaign,
    place: ExternalCampaign,
    platform: Platform,
    pages: Pages,
    now: datetime,
) -> None:
    """Close this work to all workers; HITs that may be posted count as posted."""
    unsure = list(outbox.due(campaign, Kind.POST, Kind.EXTEND, maybe_sent_only=True))
    if unsure:
        ref = ref_of(campaign, place)
        portion = outbox.take(unsure, now)
        results = list(_results(campaign, platform, pages, ref, portion, now))
        # A HIT we cannot identify yet may be posted. The known ones are closed, and the
        # call stays open until the rest are found.
        if any(result.state in {"unknown", "again"} for result in results):
            switch(campaign, place, platform, Kind.CLOSE, now, complete=False)
            return
    switch(campaign, place, platform, Kind.CLOSE, now)


def switch(
    campaign: Campaign,
    place: ExternalCampaign,
    platform: Platform,
    kind: OutwardCall.Kind,
    now: datetime,
    *,
    complete: bool = True,
) -> None:
    """Close or resume; while a HIT may still be found, the row is not done."""
    call = outbox.plan_numbered(campaign, kind, str(campaign.pk))
    ref = _with_open_places(campaign, place)
    for taken, sent in outbox.take([call], now):
        act = platform.close if kind == Kind.CLOSE else platform.resume
        result = act(ref)
        if result.state == "done" and not complete:
            result = Result(
                ref.campaign_id,
                "unknown",
                message="The state of some HITs is not known.",
            )
        done = outbox.note_result(taken, sent, result, now)
        if done.state == OutwardCall.State.DONE:
            place.is_open = kind == Kind.RESUME
        ExternalCampaign.objects.filter(pk=place.pk).update(
            is_open=place.is_open, trouble=done.trouble
        )


def _with_open_places(campaign: Campaign, place: ExternalCampaign) -> ExternalRef:
    names, n_places_told, _ = outbox.posted_hits(campaign)
    done = _n_done(campaign)
    live = {
        str(pk): name
        for pk, name in names.items()
        if done.get(pk, 0) < n_places_told[pk]
    }
    return ExternalRef(place.platform_id, live)


def _n_done(campaign: Campaign) -> dict[int, int]:
    return dict(
        Assignment.objects.filter(hit__campaign=campaign)
        .order_by()
        .values_list("hit")
        .annotate(n=Count("pk"))
    )


def note_trouble(place: ExternalCampaign, sentence: str) -> None:
    ExternalCampaign.objects.filter(pk=place.pk).update(trouble=sentence[:500])
