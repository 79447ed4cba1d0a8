"""What kinds of work there are for a worker now, and what is in the way of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from crowd.models import Campaign, HITType, QualificationTest, Requirement, Worker
from crowd.selectors.consent import consented
from crowd.selectors.eligible import open_campaigns, unseen_inputs
from crowd.selectors.qualifications import TestStanding, standings_of
from crowd.selectors.requirements import TrackRecord, track_record, unmet

Kind = Requirement.Kind


@dataclass(frozen=True)
class Lacking:
    """One thing that a worker lacks for a kind of work, and what they can do about it."""

    sentence: str
    # of a qualification test that can be taken, or will be
    standing: TestStanding | None = None


@dataclass(frozen=True)
class Offer:
    """One pool of work: what it is, what it pays, how much of it is left."""

    pool: str
    hit_type: HITType
    n_left: int
    agreed: bool
    # what the least and the best paid piece pays
    cents: tuple[int, int]
    # empty where some of the work can be had
    lacking: tuple[Lacking, ...] = ()

    @property
    def test(self) -> QualificationTest | None:
        """Give the test that can be taken now, if that is in the way."""
        for one in self.lacking:
            if one.standing is not None and one.standing.may_start:
                return one.standing.test
        return None


def offers(worker: Worker, now: datetime | None = None) -> list[Offer]:
    """List the pools with running campaigns that are open to the worker."""
    now = now or timezone.now()
    everything = open_campaigns(worker)
    missing = unmet(worker, everything, now)
    explained = _explained(worker, missing, now)
    campaigns: dict[str, list[Campaign]] = {}
    for campaign in everything:
        campaigns.setdefault(campaign.pool, []).append(campaign)
    agreed = consented(worker, list(campaigns))
    found = []
    for pool, group in campaigns.items():
        open_to = [campaign for campaign in group if campaign.pk not in missing]
        lacking = () if open_to else explained[group[0].pk]
        group = open_to or group
        inputs = [_inputs_left(worker, campaign) for campaign in group]
        # what they read about is what they get first
        offered = [c for c, some in zip(group, inputs, strict=True) if some] or group
        rewards = [campaign.hit_type.reward_cents for campaign in offered]
        n_left = len({one for some in inputs for one in some})
        found.append(
            Offer(
                pool=pool,
                hit_type=offered[0].hit_type,
                n_left=n_left,
                agreed=pool in agreed,
                cents=(min(rewards), max(rewards)),
                lacking=lacking,
            )
        )
    return found


def _explained(
    worker: Worker, missing: dict[int, list[Requirement]], now: datetime
) -> dict[int, tuple[Lacking, ...]]:
    """Say in words what is missing; the same few queries however many campaigns."""
    rows = [row for some in missing.values() for row in some]
    names = {row.test_name for row in rows if row.kind == Kind.TEST}
    standings = standings_of(worker, names, now) if names else {}
    record = (
        track_record(worker)
        if any(row.kind != Kind.TEST for row in rows)
        else TrackRecord(0, 0)
    )
    return {
        pk: tuple(_lacking(row, standings, record) for row in some)
        for pk, some in missing.items()
    }


def _lacking(
    row: Requirement, standings: dict[str, TestStanding], record: TrackRecord
) -> Lacking:
    if row.kind == Kind.TEST:
        standing = standings.get(row.test_name)
        return Lacking(_test_sentence(standing), standing)
    if row.kind == Kind.APPROVED:
        return Lacking(
            f"It is for workers with at least {row.at_least:,} approved pieces of work; "
            f"you have {record.n_approved:,}. Other work on this site counts towards it."
        )
    if row.kind == Kind.COUNTRY:
        return Lacking(f"It is for people who live in {', '.join(row.country_codes)}.")
    return Lacking(
        f"It is for workers of whose work at least {row.at_least} % was approved; of "
        f"yours {record.percent} % was."
    )


def _test_sentence(standing: TestStanding | None) -> str:
    if standing is None:
        return "It needs a test that is not ready yet. Look in again later."
    if standing.revoked:
        return "Your qualification for it was taken back; the message says why."
    if standing.open_attempt is not None:
        return "You have begun the test for it."
    if standing.n_left == 0:
        return "You have used all tries of its test."
    if standing.wait_until is not None:
        return (
            f"You can try its test again from {standing.wait_until:%Y-%m-%d %H:%M} UTC."
        )
    return "It needs a short test first."


def _inputs_left(worker: Worker, campaign: Campaign) -> set[tuple[str, int]]:
    """Give inputs, not HITs: once a worker has one of them, the others are closed."""
    scope = campaign.pk if campaign.exposure == "campaign" else 0
    unseen = unseen_inputs(worker, campaign).values()
    return {(key, scope) for keys in unseen for key in keys}
