"""What every source of workers can do, whoever runs it.

The services know platforms through this class only. Adapters know neither Django nor
the database: they are given plain specs and answer with plain results, so that a test
can drive them against a server on this machine.

Whatever changes something outside goes through the ledger (`crowd.campaigns.services.outbox`):
each effect has a key of ours, is written down before it is sent, and each spec says
whether it may have been sent before. An adapter makes its idempotency token from the
key and answers with a `Result`; it never raises for a single refused effect.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from crowd.platforms.demands import Requirements, StudyTerms
from crowd.pricing import Quote, quote
from genie.lib.errors import GenieError
from genie.lib.extension import discover

Decision = Literal["approve", "reject", "override"]
Outcome = Literal["completed", "screened-out", "failed-check", "returned"]
SessionStatus = Literal[
    "started", "submitted", "approved", "rejected", "returned", "screened-out"
]
# "lately": a token of that time still lives; "long-ago": look before sending again.
Sent = Literal["never", "lately", "long-ago"]


@dataclass(frozen=True)
class Capabilities:
    """What a platform does by itself; where it does not, we do.

    Parameters
    ----------
    external : bool
        There is a server elsewhere that must be told; without one the tables are all.
    assigns_items : bool
        Decides which worker gets which HIT.
    answers_there : bool
        Workers answer on the platform and `sync` brings the answers.
    pays : bool
        Pays workers by itself once we approve.
    idempotent_bonus : bool
        A repeated bonus call with the same token pays once.
    override_window_days : int
        For how long a rejection can be turned into an approval.
    auto_approval : bool
        Approves by itself when we do not decide.
    native_exclusion : bool
        Can keep a worker away before they see the work.
    checks_requirements : bool
        Keeps people away who lack what a campaign requires.
    attests : frozenset of str
        The kinds of requirement that it does so for where it cannot for all: who comes
        is known to meet those, though we cannot look it up.
    preview : bool
        Shows work to people who have not accepted it.
    sandbox, changes_reward : bool
        Has an environment in which nothing costs money; lets the reward of work change
        that is offered already.
    reject_minimum_characters : int
        How long the reason for a rejection must be.
    """

    external: bool = False
    assigns_items: bool = False
    answers_there: bool = False
    pays: bool = False
    idempotent_bonus: bool = False
    override_window_days: int = 0
    auto_approval: bool = False
    native_exclusion: bool = False
    checks_requirements: bool = False
    attests: frozenset[str] = frozenset()
    preview: bool = False
    sandbox: bool = False
    changes_reward: bool = False
    reject_minimum_characters: int = 1


@dataclass(frozen=True)
class CampaignSpec:
    """One campaign as a platform must know it; `pool` is what exclusion is from."""

    key: str
    title: str
    description: str
    keywords: str
    reward_cents: int
    assignment_seconds: int
    pool: str = ""
    # how long a place takes most people; 0: not known
    expected_seconds: int = 0
    # places in all, for platforms on which our server assigns the items
    n_places: int = 1
    auto_approval_seconds: int = 172_800  # after the work was sent in
    lifetime_seconds: int = 1_209_600
    url: str = ""
    requirements: Requirements = field(default_factory=Requirements)
    sent: Sent = "never"
    study: StudyTerms = field(default_factory=StudyTerms)
    # whose cents the reward is in
    currency: str = "USD"
    # nobody is asked in earnest, nor paid
    simulated: bool = False


@dataclass(frozen=True)
class HITSpec:
    """One HIT as a platform must know it: a page of its own, or the address of one."""

    key: str
    max_assignments: int = 1
    page: str = ""
    url: str = ""
    sent: Sent = "never"


@dataclass(frozen=True)
class ExternalRef:
    """How the platform calls what we posted: the campaign, and each HIT by our key."""

    campaign_id: str
    hit_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MoreSpec:
    """More places in a HIT that is out; `before` is how many it has by our books."""

    key: str
    hit_id: str
    n: int
    before: int
    sent: Sent = "never"


@dataclass(frozen=True)
class DecisionSpec:
    """Approve or reject a session, or turn a rejection into an approval."""

    key: str
    session_id: str
    decision: Decision
    message: str = ""
    worker_id: str = ""
    sent: Sent = "never"


@dataclass(frozen=True)
class BonusSpec:
    """A bonus; the token is made from `key`."""

    key: str
    worker_id: str
    session_id: str
    amount_cents: int
    reason: str
    sent: Sent = "never"
    # whose cents the amount is
    currency: str = "USD"


@dataclass(frozen=True)
class Result:
    """What became of one effect.

    Parameters
    ----------
    key : str
        The spec's.
    state : str
        ``done``: it stands. ``refused``: it does not and will not. ``again``: it did not
        happen, a later try may work. ``unknown``: nobody can tell; the ledger asks again
        with the same token, or calls a person where there are no tokens.
    platform_id : str
        How the platform calls what was made.
    message : str
        For staff: why not; of a decision that fell otherwise, how it fell.
    code : str
        ``no-funds``, ``throttled``, ``decided-otherwise``, ``too-many``, or empty.
    """

    key: str
    state: Literal["done", "refused", "again", "unknown"]
    platform_id: str = ""
    message: str = ""
    code: str = ""


@dataclass(frozen=True)
class Identity:
    """Who arrives, as the platform says."""

    worker_id: str
    session_id: str = ""
    study_id: str = ""
    preview: bool = False
    # the HIT that the platform assigned, and where its form goes back to
    hit_id: str = ""
    back_to: str = ""


@dataclass(frozen=True)
class Completion:
    """How a worker goes back to the platform: a form to post, a redirect, or a code."""

    kind: Literal["none", "code", "redirect", "form"]
    url: str = ""
    code: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SessionEvent:
    """What the platform reports of one worker's session.

    `answers` holds the fields of the form that was answered there; `raw` is kept as it
    came. A platform may report the same state any number of times.
    """

    session_id: str
    worker_id: str
    status: SessionStatus
    hit_id: str = ""
    accepted_at: datetime | None = None
    submitted_at: datetime | None = None
    auto_approval_at: datetime | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    raw: str = ""
    message: str = ""


class Platform(ABC):
    """A source of workers."""

    slug: str
    title: str
    capabilities: Capabilities
    # names the account in use, so that two are never mixed up: sandbox, production
    environment: str = ""

    @classmethod
    def configured(cls, options: Mapping[str, Any]) -> Platform:
        """Give the platform as the site's settings describe it, or say what is missing."""
        return cls()

    @classmethod
    def check_study(cls, requirements: Requirements, study: StudyTerms) -> None:
        """Refuse what cannot be asked of this platform, without asking anybody."""
        if study.demands:
            raise GenieError(
                f"{cls.title} cannot do what [human.study] says: "
                f"{', '.join(study.demands)}. Remove it or choose another platform.",
                code="requirement-not-checked",
            )

    @abstractmethod
    def publish(self, campaign: CampaignSpec) -> Result:
        """Make the offer known; the same key again gives the same name."""

    def post(self, ref: ExternalRef, hits: Sequence[HITSpec]) -> Iterator[Result]:
        """Post HITs of an offer, in any order; nothing where our server assigns them."""
        return (Result(hit.key, "done", hit.key) for hit in hits)

    @abstractmethod
    def add_capacity(
        self, ref: ExternalRef, more: Sequence[MoreSpec]
    ) -> Iterator[Result]:
        """Ask more people."""

    def retype(self, ref: ExternalRef, hits: Mapping[str, str]) -> Iterator[Result]:
        """Move HITs, named by our keys, to the offer; refused where one was taken."""
        return (Result(key, "refused") for key in hits)

    @abstractmethod
    def close(self, ref: ExternalRef) -> Result:
        """Offer the work no longer; what is open may be finished."""

    @abstractmethod
    def resume(self, ref: ExternalRef) -> Result:
        """Offer the work again after `close`."""

    def find(self, key: str) -> str:
        """Give the platform's name of what was offered under our key, or nothing."""
        return ""

    def page_of(self, ref: ExternalRef) -> str:
        """Give the address of the offer's own page for staff, where there is one."""
        return ""

    @abstractmethod
    def identity(self, parameters: Mapping[str, str]) -> Identity:
        """Read who arrives from the parameters of the link they came by."""

    def vouches_for(self, who: Identity) -> bool | None:
        """Say whether the platform knows of this visit; None where it cannot be asked."""
        return None

    @abstractmethod
    def completion(self, who: Identity, outcome: Outcome) -> Completion:
        """Say how a worker goes back when they are done."""

    @abstractmethod
    def sync(self, ref: ExternalRef, since: datetime | None) -> Iterator[SessionEvent]:
        """Report what happened since a moment, possibly some of it twice."""

    def hints(self) -> Iterator[frozenset[str]]:
        """Give the platform's names of HITs in which something is said to have changed.

        Whoever reads on has dealt with what came before.
        """
        yield from ()

    @abstractmethod
    def decide(self, decisions: Sequence[DecisionSpec]) -> Iterator[Result]:
        """Approve or reject; the same decision again changes nothing."""

    @abstractmethod
    def bonus(self, bonuses: Sequence[BonusSpec]) -> Iterator[Result]:
        """Pay bonuses; the platform's name for a payment is in the result."""

    @abstractmethod
    def exclude(self, key: str, worker_id: str, pool: str, reason: str) -> Result:
        """Keep a worker away from a pool of work."""

    @abstractmethod
    def include(self, key: str, worker_id: str, pool: str) -> Result:
        """Let a worker back into a pool of work."""

    @abstractmethod
    def balance_cents(self) -> int | None:
        """Say what can be spent, in cents of `currency`; None without an account."""

    def currency(self) -> str:
        """Say what the account there pays in."""
        return "USD"

    def check_filters(self, requirements: Requirements, study: StudyTerms) -> None:
        """Ask the platform whether it can keep everybody else away; refuse if not."""
        return None

    def quote(
        self,
        *,
        reward_cents: int,
        n_items: int,
        n_test_questions: int,
        max_assignments: int = 1,
    ) -> Quote:
        """Price a campaign at the platform's rates."""
        return quote(
            platform=self.slug,
            reward_cents=reward_cents,
            n_items=n_items,
            n_test_questions=n_test_questions,
            ratings_per_item=max_assignments,
            max_assignments=max_assignments,
        )


def all_platforms() -> dict[str, type[Platform]]:
    """Give every platform by its slug."""
    return discover("crowd.platforms", Platform)


def kind_of(slug: str) -> type[Platform]:
    """Give the class of that slug, or say which ones there are."""
    platforms = all_platforms()
    if slug not in platforms:
        raise GenieError(
            f"There is no platform {slug!r}. Choose from: {', '.join(platforms)}.",
            code="unknown-platform",
        )
    return platforms[slug]


def get(slug: str, options: Mapping[str, Any] | None = None) -> Platform:
    """Give the platform of that slug as the options configure it."""
    return kind_of(slug).configured(options or {})
