"""Which campaigns' requirements a worker does not meet, and why not."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from crowd.elsewhere.models.external import ExternalSession
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Campaign
from crowd.platforms.selfhosted import SelfHosted
from crowd.requester.models.records import WorkerRecord
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Profile, Worker
from crowd.workers.selectors.qualifications import held

Kind = Requirement.Kind
State = Assignment.State
# Nobody's share of approvals counts before this many decisions, as on Mechanical Turk.
ENOUGH_WORK = 100
# what workers may say of themselves
SAID = {Kind.COUNTRY, Kind.LANGUAGE}


@dataclass(frozen=True)
class TrackRecord:
    """What became of the work that a worker sent in on this site."""

    n_approved: int
    n_rejected: int

    @property
    def percent(self) -> int:
        """Give the share approved in whole percent; 100 before there is enough work."""
        n = self.n_approved + self.n_rejected
        return 100 if n < ENOUGH_WORK else 100 * self.n_approved // n


def track_record(worker: Worker) -> TrackRecord:
    """Count the decisions on a worker's work, in one query."""
    counts = Assignment.objects.filter(worker=worker).aggregate(
        approved=Count("pk", filter=Q(state=State.APPROVED)),
        rejected=Count("pk", filter=Q(state=State.REJECTED)),
    )
    return TrackRecord(counts["approved"], counts["rejected"])


def unmet(
    worker: Worker, campaigns: Collection[Campaign], now: datetime
) -> dict[int, list[Requirement]]:
    """Give what the worker lacks for each campaign, in six queries however many.

    Who has not said where they live, and of whom staff do not know it, does not live in a
    country that is required, unless the platform that sent them keeps everybody else away.
    """
    required = _required(campaigns)
    if not required:
        return {}
    rows = [row for of_campaign in required.values() for row in of_campaign]
    meets = _judge(worker, rows, now)
    vouched = _vouched(worker, campaigns)
    lacking = {
        pk: [
            row
            for row in of_campaign
            if not meets(row) and row.content not in vouched.get(pk, ())
        ]
        for pk, of_campaign in required.items()
    }
    return {pk: of_campaign for pk, of_campaign in lacking.items() if of_campaign}


def _required(campaigns: Collection[Campaign]) -> dict[int, list[Requirement]]:
    """Gather the requirements of each campaign, its own and its pool's."""
    if not campaigns:
        return {}
    pks: dict[str, list[int]] = {}
    for campaign in campaigns:
        pks.setdefault(campaign.pool, []).append(campaign.pk)
    rows = Requirement.objects.filter(
        Q(pool__in=list(pks)) | Q(campaign__in=[campaign.pk for campaign in campaigns])
    ).order_by("pk")
    rows_by_campaign: dict[int, list[Requirement]] = {}
    for row in rows:
        concerned = [row.campaign_id] if row.campaign_id else pks[row.pool]
        for pk in concerned:
            if not _is_required_already(row, rows_by_campaign.setdefault(pk, [])):
                rows_by_campaign[pk].append(row)
    return rows_by_campaign


def _is_required_already(row: Requirement, before: Iterable[Requirement]) -> bool:
    """Tell whether the same is required already, by the pool or by the campaign."""
    return any(other.content == row.content for other in before)


def _judge(
    worker: Worker, rows: list[Requirement], now: datetime
) -> Callable[[Requirement], bool]:
    """Look up what these requirements need once, and give who applies them."""
    counted = {Kind.APPROVED, Kind.APPROVED_PERCENT}
    record = (
        track_record(worker)
        if any(row.kind in counted for row in rows)
        else TrackRecord(0, 0)
    )
    profile = (
        Profile.objects.filter(worker=worker).first()
        if any(row.kind in SAID for row in rows)
        else None
    ) or Profile()
    country = (
        country_of(worker, profile) if any(r.kind == Kind.COUNTRY for r in rows) else ""
    )
    spoken = set(profile.languages.split())
    names = {row.test_name for row in rows if row.kind == Kind.TEST}
    held_names = held(worker, names, now) if names else set()

    def meets(row: Requirement) -> bool:
        if row.kind == Kind.TEST:
            return row.test_name in held_names
        if row.kind == Kind.APPROVED:
            return record.n_approved >= (row.at_least or 0)
        if row.kind == Kind.APPROVED_PERCENT:
            return record.percent >= (row.at_least or 0)
        if row.kind == Kind.LANGUAGE:
            return not spoken.isdisjoint(row.language_codes)
        return country in row.country_codes

    return meets


def _vouched(
    worker: Worker, campaigns: Collection[Campaign]
) -> dict[int, list[list[object]]]:
    """Gather what other platforms attest of who they sent; nobody sent our own people."""
    if worker.platform == SelfHosted.slug:
        return {}
    sessions = ExternalSession.objects.filter(worker=worker, campaign__in=campaigns)
    vouched: dict[int, list[list[object]]] = {}
    for pk, contents in sessions.values_list("campaign", "attested"):
        vouched.setdefault(pk, []).extend(contents)
    return vouched


def country_of(worker: Worker, profile: Profile) -> str:
    """Give the country that staff have checked, or else the one that the worker says."""
    countries = WorkerRecord.objects.filter(worker=worker).values_list(
        "country", flat=True
    )
    return countries.first() or profile.country
