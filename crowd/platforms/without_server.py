from collections.abc import Iterator, Sequence
from datetime import datetime

from crowd.platforms.base import (
    BonusSpec,
    CampaignSpec,
    DecisionSpec,
    ExternalRef,
    MoreSpec,
    Platform,
    Result,
    SessionEvent,
)


class Here(Platform):
    """A platform whose people work on our pages, so our tables hold everything.

    The services write directly into the tables: HITs are handed out, collected,
    approved and closed there, and a bonus is a ledger entry that staff pay. So calls to
    the platform have no effect. Arrival and return are defined by each such platform.
    """

    def publish(self, campaign: CampaignSpec) -> Result:
        return Result(campaign.key, "done", campaign.key)

    def add_capacity(
        self, ref: ExternalRef, more: Sequence[MoreSpec]
    ) -> Iterator[Result]:
        return (Result(spec.key, "done") for spec in more)

    def close(self, ref: ExternalRef) -> Result:
        return Result(ref.campaign_id, "done")

    def resume(self, ref: ExternalRef) -> Result:
        return Result(ref.campaign_id, "done")

    def sync(self, ref: ExternalRef, since: datetime | None) -> Iterator[SessionEvent]:
        return iter(())

    def decide(self, decisions: Sequence[DecisionSpec]) -> Iterator[Result]:
        return (Result(decision.key, "done") for decision in decisions)

    def bonus(self, bonuses: Sequence[BonusSpec]) -> Iterator[Result]:
        return (Result(spec.key, "done", spec.key) for spec in bonuses)

    def exclude(self, key: str, worker_id: str, pool: str, reason: str) -> Result:
        return Result(key, "done")

    def include(self, key: str, worker_id: str, pool: str) -> Result:
        return Result(key, "done")

    def balance_cents(self) -> int | None:
        return None
