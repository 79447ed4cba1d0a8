"""What platforms without a server of their own share: there is nobody to tell."""

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
    """A platform whose people work on our pages, so that our tables are all there is.

    The services write what happens straight into the tables: HITs are handed out,
    collected, approved and closed there, and a bonus is an entry in the ledger that
    staff pay. Hence what a platform is told has no effect here, and saying it twice has
    none either. Who comes, and where they go afterwards, each such platform says itself.
    """

    def publish(self, campaign: CampaignSpec) -> Result:
        return Result(campaign.key, "done", campaign.key)

    def add_capacity(
        self, ref: ExternalRef, more: Sequence[MoreSpec]
    ) -> Iterator[Result]:
        """Nothing to tell: the HIT's own row says how many places it has."""
        return (Result(spec.key, "done") for spec in more)

    def close(self, ref: ExternalRef) -> Result:
        """Nothing to tell: the campaign's own row says whether it runs."""
        return Result(ref.campaign_id, "done")

    def resume(self, ref: ExternalRef) -> Result:
        """Nothing to tell, as with `close`."""
        return Result(ref.campaign_id, "done")

    def sync(self, ref: ExternalRef, since: datetime | None) -> Iterator[SessionEvent]:
        """Nothing to fetch: what people do is written down as they do it."""
        return iter(())

    def decide(self, decisions: Sequence[DecisionSpec]) -> Iterator[Result]:
        """Nothing to tell: the decision stands on the assignment."""
        return (Result(decision.key, "done") for decision in decisions)

    def bonus(self, bonuses: Sequence[BonusSpec]) -> Iterator[Result]:
        """Give the entry's own key as the payment's name: staff pay by hand."""
        return (Result(spec.key, "done", spec.key) for spec in bonuses)

    def exclude(self, key: str, worker_id: str, pool: str, reason: str) -> Result:
        """Nothing to tell: the exclusion's own row keeps the worker away."""
        return Result(key, "done")

    def include(self, key: str, worker_id: str, pool: str) -> Result:
        """Nothing to tell, as with `exclude`."""
        return Result(key, "done")

    def balance_cents(self) -> int | None:
        return None
