"""The contract of every platform, tested against its real server on this machine.

A platform joins with a subclass of `PlatformContract` whose `world` fixture returns a
`World`: the adapter, and the platform's side, with its workers and accounts.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from crowd.platforms.base import (
    BonusSpec,
    CampaignSpec,
    DecisionSpec,
    ExternalRef,
    HITSpec,
    MoreSpec,
    Platform,
    Result,
)
from genie.lib.errors import GenieError

REASON = (
    "The answers do not fit the texts. Each of the five took under a second and was "
    "the first choice, even for an empty text."
)


class World(ABC):
    """A platform with its server, seen from both sides."""

    platform: Platform

    def campaign(self, **fields: Any) -> CampaignSpec:
        return CampaignSpec(
            **{
                "key": "campaign-1",
                "pool": "weather",
                "title": "Judge answers",
                "description": "Read and say what you think.",
                "keywords": "text",
                "reward_cents": 40,
                "assignment_seconds": 600,
                "n_places": 3,
                "url": "https://genie.example.org/work/",
                **fields,
            }
        )

    def hits(self) -> list[HITSpec]:
        return [HITSpec("hit-1", page="<p>One</p>"), HITSpec("hit-2", page="<p>2</p>")]

    @abstractmethod
    def n_offers(self) -> int:
        """Count the offers on the platform: HIT types, studies."""

    @abstractmethod
    def n_posted(self) -> int:
        """Count all posted work as the platform counts it."""

    @abstractmethod
    def answer(self, ref: ExternalRef, key: str, who: str) -> str | None:
        """Simulate a person's HIT (or place); return the session, None if kept away."""

    @abstractmethod
    def status(self, session: str) -> str:
        """Return the platform's state of a session: submitted, approved, rejected."""

    @abstractmethod
    def paid_cents(self, who: str) -> int:
        """Return a person's total pay."""

    @abstractmethod
    def charged_cents(self) -> int:
        """Return the platform's charges for rewards, bonuses and fees."""

    def worker_id(self, who: str) -> str:
        return who


def one(results: Iterable[Result]) -> Result:
    (result,) = list(results)
    return result


class PlatformContract:
    """Subclass it with a fixture `world`."""

    @pytest.fixture
    def ref(self, world: World) -> ExternalRef:
        made = world.platform.publish(world.campaign())
        assert made.state == "done", made
        ref = ExternalRef(made.platform_id)
        ids = {r.key: r.platform_id for r in world.platform.post(ref, world.hits())}
        return ExternalRef(ref.campaign_id, ids)

    def session(
        self, world: World, ref: ExternalRef, who: str = "Wanda", key: str = "hit-1"
    ) -> str:
        session = world.answer(ref, key, who)
        assert session is not None, f"{who} was kept away"
        return session

    def test_an_offer_published_twice_is_one(self, world: World) -> None:
        first = world.platform.publish(world.campaign())
        n = world.n_offers()
        again = world.platform.publish(world.campaign(sent="lately"))
        assert first.state == again.state == "done"
        assert again.platform_id == first.platform_id
        assert world.n_offers() == n

    def test_what_is_posted_twice_is_there_once(
        self, world: World, ref: ExternalRef
    ) -> None:
        n = world.n_posted()
        for sent in ("lately", "long-ago"):
            again = list(
                world.platform.post(ref, [replace(h, sent=sent) for h in world.hits()])
            )
            assert {r.state for r in again} == {"done"}
            assert {r.key: r.platform_id for r in again} == dict(ref.hit_ids)
        assert world.n_posted() == n

    def test_work_comes_back_with_who_did_it(
        self, world: World, ref: ExternalRef
    ) -> None:
        session = self.session(world, ref)
        events = {e.session_id: e for e in world.platform.sync(ref, None)}
        if not world.platform.capabilities.external:
            assert events == {}  # our pages record it when it is done
            assert world.status(session) == "submitted"
            return
        assert events[session].worker_id == world.worker_id("Wanda")
        assert events[session].status == "submitted"
        assert events[session].submitted_at is not None

    def test_work_approved_twice_is_paid_once(
        self, world: World, ref: ExternalRef
    ) -> None:
        session = self.session(world, ref)
        wish = DecisionSpec("d-1", session, "approve", "", world.worker_id("Wanda"))
        assert one(world.platform.decide([wish])).state == "done"
        again = one(world.platform.decide([replace(wish, sent="lately")]))
        assert again.state == "done"
        assert world.status(session) == "approved"
        assert world.paid_cents("Wanda") == 40

    def test_work_is_rejected_with_a_reason_and_not_paid(
        self, world: World, ref: ExternalRef
    ) -> None:
        session = self.session(world, ref)
        wish = DecisionSpec("d-1", session, "reject", REASON, world.worker_id("Wanda"))
        assert one(world.platform.decide([wish])).state == "done"
        again = one(world.platform.decide([replace(wish, sent="lately")]))
        assert again.state == "done"
        assert world.status(session) == "rejected"
        assert world.paid_cents("Wanda") == 0

    def test_a_rejection_after_an_approval_says_how_it_stands(
        self, world: World, ref: ExternalRef
    ) -> None:
        session = self.session(world, ref)
        worker = world.worker_id("Wanda")
        approve = DecisionSpec("d-1", session, "approve", "", worker)
        assert one(world.platform.decide([approve])).state == "done"
        reject = DecisionSpec("d-2", session, "reject", REASON, worker)
        result = one(world.platform.decide([reject]))
        assert (result.state, result.code) == ("refused", "decided-otherwise")
        assert world.status(session) == "approved"

    def test_a_bonus_is_paid_once(self, world: World, ref: ExternalRef) -> None:
        session = self.session(world, ref)
        worker = world.worker_id("Wanda")
        approve = DecisionSpec("d-1", session, "approve", "", worker)
        assert one(world.platform.decide([approve])).state == "done"
        before = world.paid_cents("Wanda")
        wish = BonusSpec("bonus-1", worker, session, 25, "It took longer.")
        assert one(world.platform.bonus([wish])).state == "done"
        if not world.platform.capabilities.idempotent_bonus:
            assert world.paid_cents("Wanda") == before + 25
            return  # the ledger never sends it again
        for sent in ("lately", "long-ago"):
            again = one(world.platform.bonus([replace(wish, sent=sent)]))
            assert again.state == "done"
        assert world.paid_cents("Wanda") == before + 25
        # Another bonus of the same work is not the same bonus.
        other = replace(wish, key="bonus-2", amount_cents=30, sent="long-ago")
        assert one(world.platform.bonus([other])).state == "done"
        assert world.paid_cents("Wanda") == before + 55

    def test_what_is_closed_takes_nobody_until_it_is_resumed(
        self, world: World, ref: ExternalRef
    ) -> None:
        self.session(world, ref)
        for _ in range(2):
            assert world.platform.close(ref).state == "done"
        assert world.answer(ref, "hit-2", "Wilma") is None
        assert world.platform.resume(ref).state == "done"
        assert world.answer(ref, "hit-2", "Wilma") is not None

    def test_more_places_can_be_asked_for_once(
        self, world: World, ref: ExternalRef
    ) -> None:
        self.session(world, ref)
        wish = MoreSpec("more-1", ref.hit_ids["hit-1"], 1, 1)
        assert one(world.platform.add_capacity(ref, [wish])).state == "done"
        for sent in ("lately", "long-ago"):
            again = one(world.platform.add_capacity(ref, [replace(wish, sent=sent)]))
            assert again.state == "done"
        assert world.answer(ref, "hit-1", "Wilma") is not None
        if world.platform.capabilities.answers_there:
            assert world.answer(ref, "hit-1", "Wim") is None

    def test_an_excluded_worker_is_kept_away_until_let_back_in(
        self, world: World, ref: ExternalRef
    ) -> None:
        self.session(world, ref)
        worker = world.worker_id("Wanda")
        for _ in range(2):
            out = world.platform.exclude("out-1", worker, "weather", "Not this work.")
            assert out.state == "done"
        assert world.answer(ref, "hit-2", "Wanda") is None
        for _ in range(2):
            back = world.platform.include("in-1", worker, "weather")
            assert back.state == "done"
        assert world.answer(ref, "hit-2", "Wanda") is not None

    def test_who_arrives_must_be_said(self, world: World) -> None:
        with pytest.raises(GenieError):
            world.platform.identity({})

    def test_the_balance_is_in_cents_or_there_is_none(self, world: World) -> None:
        balance = world.platform.balance_cents()
        assert balance is None or isinstance(balance, int)

    def test_what_is_quoted_is_what_is_charged(
        self, world: World, ref: ExternalRef
    ) -> None:
        session = self.session(world, ref)
        wish = DecisionSpec("d-1", session, "approve", "", world.worker_id("Wanda"))
        assert one(world.platform.decide([wish])).state == "done"
        quoted = world.platform.quote(reward_cents=40, n_items=1, n_test_questions=0)
        assert world.charged_cents() == quoted.total_cents
