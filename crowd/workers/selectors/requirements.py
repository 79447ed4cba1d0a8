from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from crowd.elsewhere.models import ExternalSession
from crowd.hits.models import Assignment, Campaign
from crowd.platforms.selfhosted import SelfHosted
from crowd.requester.models import WorkerRecord
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Profile, Worker
from crowd.workers.selectors.qualifications import held
from genie.lib.database import prepare

Kind = Requirement.Kind
State = Assignment.State
# The approval rate does not count before this many decisions, as on Mechanical Turk.
ENOUGH_WORK = 100
# self-reported properties
SAID = {Kind.COUNTRY, Kind.LANGUAGE}


@dataclass(frozen=True)
class TrackRecord:
    n_approved: int
    n_rejected: int

    @property
    def percent(self) -> int:
        """Return the approval rate in whole percent; 100 before there is enough work."""
        n = self.n_approved + self.n_rejected
        return 100 if n < ENOUGH_WORK else 100 * self.n_approved // n


def track_record(worker: Worker) -> TrackRecord:
    counts = Assignment.objects.filter(worker=worker).aggregate(
        approved=Count("pk", filter=Q(state=State.APPROVED)),
        rejected=Count("pk", filter=Q(state=State.REJECTED)),
    )
    return TrackRecord(counts["approved"], counts["rejected"])


def unmet(
    worker: Worker, campaigns: Collection[Campaign], now: datetime
) -> dict[int, list[Requirement]]:
    """Return the unmet requirements by campaign, in six queries however many campaigns.

    A worker with no stated or checked country does not meet a country requirement,
    unless the platform that sent them filters by it.
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
    if not campaigns:
        return {}
    pks: dict[str, list[int]] = {}
    for campaign in campaigns:
        pks.setdefault(campaign.pool, []).append(campaign.pk)
    rows = _read_required(*pks, *(one.pk for one in campaigns), n_pools=len(pks))
    rows_by_campaign: dict[int, list[Requirement]] = {}
    for row in rows:
        concerned = [row.campaign_id] if row.campaign_id else pks[row.pool]
        for pk in concerned:
            before = rows_by_campaign.setdefault(pk, [])
            if row.content not in [other.content for other in before]:
                before.append(row)
    return rows_by_campaign


_read_required = prepare(
    lambda *given, n_pools: Requirement.objects.filter(
        Q(pool__in=given[:n_pools]) | Q(campaign__pk__in=given[n_pools:])
    ).order_by("pk")
)


def _judge(
    worker: Worker, rows: list[Requirement], now: datetime
) -> Callable[[Requirement], bool]:
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
    if worker.platform == SelfHosted.slug:
        return {}
    sessions = ExternalSession.objects.filter(worker=worker, campaign__in=campaigns)
    vouched: dict[int, list[list[object]]] = {}
    for pk, contents in sessions.values_list("campaign", "attested"):
        vouched.setdefault(pk, []).extend(contents)
    return vouched


def country_of(worker: Worker, profile: Profile) -> str:
    countries = WorkerRecord.objects.filter(worker=worker).values_list(
        "country", flat=True
    )
    return countries.first() or profile.country
