from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from crowd.campaigns.selectors.starved import turns
from crowd.campaigns.selectors.work_records import (
    SITE,
    key_of_work,
    records,
)
from crowd.hit_templates.form import STUDY
from crowd.hits.models import Campaign, HITType, WorkRecord
from crowd.hits.selectors import expected_seconds
from crowd.pricing import hourly_cents
from crowd.workers.choices import languages
from crowd.workers.models.qualification_test import QualificationTest
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.eligible import (
    SHARE_DONE,
    candidates,
    consented_pools,
    counted_to,
    left_of_share,
    most_left,
    n_unseen_by_kind,
    open_campaigns,
)
from crowd.workers.selectors.requirements import (
    SAID,
    TestStanding,
    TrackRecord,
    standings_of,
    track_record,
    unmet,
)

Kind = Requirement.Kind


@dataclass(frozen=True)
class Lacking:
    sentence: str
    # of a qualification test that can be taken now or later
    standing: TestStanding | None = None
    # whether workers can state it about themselves
    said: bool = False


@dataclass(frozen=True)
class Offer:
    pool: str
    hit_type: HITType
    n_left: int
    # whether there may be more, because counting stopped early
    at_least: bool
    agreed: bool
    # the lowest and the highest reward
    cents: tuple[int, int]
    # empty if some of the work is available
    lacking: tuple[Lacking, ...] = ()
    # how long it takes other workers, if known
    record: WorkRecord | None = None
    # how this site has decided on work so far
    decisions: WorkRecord | None = None

    @property
    def seconds(self) -> float:
        """Return the median time of others, else the time by which work is priced."""
        known = self.record and self.record.median_seconds
        return known or expected_seconds(self.hit_type)

    @property
    def hourly_cents(self) -> int | None:
        return hourly_cents(self.hit_type.reward_cents, self.seconds)

    @property
    def words_afterwards(self) -> str:
        return str(self.hit_type.form.get(STUDY, {}).get("debriefing", ""))

    @property
    def test(self) -> QualificationTest | None:
        for lack in self.lacking:
            if lack.standing is not None and lack.standing.may_start:
                return lack.standing.test
        return None

    @property
    def may_say(self) -> bool:
        return any(lack.said for lack in self.lacking)


def offers(
    worker: Worker, now: datetime | None = None, *, pools: Collection[str] | None = None
) -> list[Offer]:
    now = now or timezone.now()
    everything = open_campaigns(worker, pools=pools)
    missing = unmet(worker, everything, now)
    shares = left_of_share(worker, everything)
    full = {pk for pk, n in shares.items() if n == 0}
    explained = _lacking_by_campaign(worker, missing, now)
    explained |= dict.fromkeys(full, (Lacking(str(SHARE_DONE)),))
    campaigns: dict[str, list[Campaign]] = {}
    for campaign in everything:
        campaigns.setdefault(campaign.pool_id, []).append(campaign)
    agreed = consented_pools(worker, list(campaigns))
    # If some of a pool's work is available, only that is shown. Otherwise all of it is
    # shown, with the reasons that prevent it.
    groups = {
        pool: _without(missing.keys() | full, group) or _without(full, group) or group
        for pool, group in campaigns.items()
    }
    offered = [campaign for group in groups.values() for campaign in group]
    left = n_unseen_by_kind(worker, offered) if offered else {}
    listed = [
        _offer(
            worker,
            group,
            left,
            counted=counted_to(offered),
            share=most_left(group, shares),
            agreed=pool in agreed,
            lacking=explained.get(group[0].pk, ()),
        )
        for pool, group in groups.items()
    ]
    kinds = [key_of_work(one.pool, one.hit_type.pk) for one in listed]
    known = records([SITE, *kinds])
    return [
        replace(one, record=known.get(kind), decisions=known.get(SITE))
        for one, kind in zip(listed, kinds, strict=True)
    ]


def _offer(
    worker: Worker,
    group: list[Campaign],
    left: Mapping[tuple[str, int], tuple[int, bool]],
    *,
    counted: int,
    share: int | None,
    agreed: bool,
    lacking: tuple[Lacking, ...],
) -> Offer:
    counts = {c.input_scope: left[c.input_scope, c.hit_type_id][0] for c in group}
    offered = [c for c in group if left[c.input_scope, c.hit_type_id][1]]
    first = (offered or group)[0]
    if len({campaign.hit_type_id for campaign in offered}) > 1:
        # Workers get first what they read about.
        candidate = candidates(worker, [turn.campaign for turn in turns(worker, group)])
        first = candidate[0] if candidate is not None else first
    n_left = sum(counts.values())
    rewards = [campaign.hit_type.reward_cents for campaign in offered or group]
    return Offer(
        pool=first.pool_id,
        hit_type=first.hit_type,
        n_left=n_left if share is None else min(n_left, share),
        at_least=counted in counts.values() and (share is None or share > n_left),
        agreed=agreed,
        cents=(min(rewards), max(rewards)),
        lacking=lacking,
    )


def _without(closed: Collection[int], group: Iterable[Campaign]) -> list[Campaign]:
    return [campaign for campaign in group if campaign.pk not in closed]


def _lacking_by_campaign(
    worker: Worker, missing: dict[int, list[Requirement]], now: datetime
) -> dict[int, tuple[Lacking, ...]]:
    rows = [row for lacking in missing.values() for row in lacking]
    names = {row.test_name for row in rows if row.kind == Kind.TEST}
    standings = standings_of(worker, names, now) if names else {}
    record = (
        track_record(worker)
        if any(row.kind != Kind.TEST for row in rows)
        else TrackRecord(0, 0)
    )
    return {
        pk: tuple(_describe_lacking(row, standings, record) for row in lacking)
        for pk, lacking in missing.items()
    }


def _describe_lacking(
    row: Requirement, standings: dict[str, TestStanding], record: TrackRecord
) -> Lacking:
    if row.kind == Kind.TEST:
        standing = standings.get(row.test_name)
        return Lacking(_test_sentence(standing), standing)
    return Lacking(_sentence(row, record), said=row.kind in SAID)


def _sentence(row: Requirement, record: TrackRecord) -> str:
    if row.kind == Kind.APPROVED:
        return _(
            "This work is for workers with at least %(least)s approved HITs; you have "
            "%(n)s. Other work on this site counts towards this number."
        ) % {"least": f"{row.at_least:,}", "n": f"{record.n_approved:,}"}
    if row.kind == Kind.COUNTRY:
        return _("This work is for people who live in %(countries)s.") % {
            "countries": ", ".join(row.country_codes)
        }
    if row.kind == Kind.LANGUAGE:
        names = [languages().get(code, code) for code in row.language_codes]
        return _("This work is for people who speak %(languages)s.") % {
            "languages": ", ".join(names)
        }
    return _(
        "This work requires an approval rate of at least %(least)s%%; yours is "
        "%(percent)s%%."
    ) % {"least": row.at_least, "percent": record.percent}


def _test_sentence(standing: TestStanding | None) -> str:
    if standing is None:
        return _(
            "This work is only for workers chosen by staff, or its test is not "
            "ready yet."
        )
    if standing.revoked:
        return _("Your qualification for this work was revoked; the message says why.")
    if standing.open_attempt is not None:
        return _("You have started the test for this work.")
    if standing.n_left == 0:
        return _("You have used all your attempts at its test.")
    if standing.wait_until is not None:
        return _("You can take its test again from %(time)s (%(zone)s).") % {
            "time": date_format(
                timezone.localtime(standing.wait_until), "DATETIME_FORMAT"
            ),
            "zone": timezone.get_current_timezone_name(),
        }
    return _("This work requires a short test first.")
