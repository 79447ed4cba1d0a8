"""The interface to every source of workers.

The services know platforms only through this class. Adapters know neither Django nor
the database: they take plain specs and return plain results, so that tests can run them
against a local server.

Every change outside goes through the ledger (`crowd.campaigns.services.outbox`): each
call has our key and is stored before it is sent, and each spec says whether it may have
been sent before. An adapter derives its idempotency token from the key and returns a
`Result`; it never raises for a single refused call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from crowd.pricing import Quote, quote
from genie.lib.errors import GenieError
from genie.lib.extension import discover


@dataclass(frozen=True)
class Choice:
    key: str
    text: str


@dataclass(frozen=True)
class FormQuestion:
    """One question of a qualification test; `right` holds the keys of right answers."""

    key: str
    text: str
    choices: Sequence[Choice]
    right: Sequence[str]


@dataclass(frozen=True)
class QualifyingTest:
    name: str
    introduction: str
    pass_percent: int
    questions: Sequence[FormQuestion]
    seconds: int = 3600
    # None: one try only
    retry_seconds: int | None = None


@dataclass(frozen=True)
class Requirements:
    minimum_approved: int = 0
    minimum_percent_approved: int = 0
    countries: Sequence[str] = ()
    tests: Sequence[QualifyingTest] = ()
    # by their English names
    languages: Sequence[str] = ()


@dataclass(frozen=True)
class StudyTerms:
    """Terms of a study on a platform; defaults demand nothing.

    Parameters
    ----------
    groups, without_groups : sequence of str
        Ids of the platform's own groups of people: only theirs, none of theirs.
    ai_taskers : bool
        Only people whom the platform has tested for work on AI.
    visits : int
        How often one person may take part.
    content_warning, content_warning_details : str
        ``sensitive`` or ``explicit``, and its text for people.
    screen_out_cents, screen_out_places : int
        Pay of a person for whom there is no work, and for how many at most.
    quotas : mapping
        Country to its share of the participants.
    early_percent : int
        Maximal share of planned answers paid to people who end a visit early.
    """

    groups: Sequence[str] = ()
    without_groups: Sequence[str] = ()
    ai_taskers: bool = False
    visits: int = 1
    content_warning: str = ""
    content_warning_details: str = ""
    screen_out_cents: int = 0
    screen_out_places: int = 0
    quotas: Mapping[str, int] = field(default_factory=dict)
    early_percent: int = 10

    @property
    def demands(self) -> list[str]:
        """Return the terms that differ from the defaults.

        Examples
        --------
        >>> StudyTerms(visits=2, groups=["64b0"]).demands
        ['groups', 'visits']
        """
        usual = vars(StudyTerms())
        # An empty list is as good as the empty tuple.
        return [
            name
            for name, value in vars(self).items()
            if (value or usual[name]) and value != usual[name]
        ]


Decision = Literal["approve", "reject", "override"]
Outcome = Literal["completed", "screened-out", "failed-check", "returned"]
SessionStatus = Literal[
    "started", "submitted", "approved", "rejected", "returned", "screened-out"
]
# "lately": a token of that time is still valid; "long-ago": look it up before sending
# again.
Sent = Literal["never", "lately", "long-ago"]


@dataclass(frozen=True)
class Capabilities:
    """Features of a platform; this site does the rest.

    Parameters
    ----------
    external : bool
        There is an external server to call.
    assigns_items : bool
        Decides which worker gets which HIT.
    answers_there : bool
        Workers answer on the platform, and `sync` fetches the answers.
    pays : bool
        Pays workers once we approve.
    idempotent_bonus : bool
        A repeated bonus call with the same token pays once.
    override_window_days : int
        How long a rejection can be turned into an approval.
    native_exclusion : bool
        Can exclude a worker before they see the work.
    checks_requirements : bool
        Excludes people who do not meet a campaign's requirements.
    attests : frozenset of str
        The kinds of requirements it checks if it cannot check all: its people meet
        those, though we cannot look it up.
    changes_reward : bool
        Allows changing the reward of posted work.
    reject_minimum_characters : int
        The minimal length of the reason for a rejection.
    """

    external: bool = False
    assigns_items: bool = False
    answers_there: bool = False
    pays: bool = False
    idempotent_bonus: bool = False
    override_window_days: int = 0
    native_exclusion: bool = False
    checks_requirements: bool = False
    attests: frozenset[str] = frozenset()
    changes_reward: bool = False
    reject_minimum_characters: int = 1


@dataclass(frozen=True)
class CampaignSpec:
    """A campaign for a platform; `pool` is the scope of exclusions."""

    key: str
    title: str
    description: str
    keywords: str
    reward_cents: int
    assignment_seconds: int
    pool: str = ""
    # the time most people need for a place; 0: not known
    expected_seconds: int = 0
    # places in all, for platforms on which our server assigns the items
    n_places: int = 1
    auto_approval_seconds: int = 172_800  # after the work was submitted
    lifetime_seconds: int = 1_209_600
    url: str = ""
    requirements: Requirements = field(default_factory=Requirements)
    sent: Sent = "never"
    study: StudyTerms = field(default_factory=StudyTerms)
    # the currency of the reward
    currency: str = "USD"
    # No workers are really asked or paid.
    simulated: bool = False


@dataclass(frozen=True)
class HITSpec:
    key: str
    max_assignments: int = 1
    page: str = ""
    url: str = ""
    sent: Sent = "never"


@dataclass(frozen=True)
class ExternalRef:
    campaign_id: str
    hit_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MoreSpec:
    """More places in a posted HIT; `before` is how many it has in our books."""

    key: str
    hit_id: str
    n: int
    before: int
    sent: Sent = "never"


@dataclass(frozen=True)
class DecisionSpec:
    key: str
    session_id: str
    decision: Decision
    message: str = ""
    worker_id: str = ""
    sent: Sent = "never"


@dataclass(frozen=True)
class BonusSpec:
    """A bonus; the token is derived from `key`."""

    key: str
    worker_id: str
    session_id: str
    amount_cents: int
    reason: str
    sent: Sent = "never"
    # the currency of the amount
    currency: str = "USD"


@dataclass(frozen=True)
class Result:
    """The outcome of one call.

    Parameters
    ----------
    key : str
        The spec's.
    state : str
        ``done``. ``refused``: it did not happen and will not. ``again``: it did not
        happen, a later try may work. ``unknown``: the ledger asks again with the same
        token, or a person must decide if there are no tokens.
    platform_id : str
        The platform's name of the new object.
    message : str
        For staff: the reason; for a conflicting decision, that decision.
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
    worker_id: str
    session_id: str = ""
    study_id: str = ""
    # the HIT that the platform assigned, and the address that its form is sent to
    hit_id: str = ""
    back_to: str = ""


@dataclass(frozen=True)
class Completion:
    kind: Literal["none", "code", "redirect", "form"]
    url: str = ""
    code: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SessionEvent:
    """The platform's report of one worker's session.

    `answers` holds the fields of the form that was answered there; `raw` is the
    unchanged text. A platform may report the same state any number of times.
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
    slug: str
    title: str
    capabilities: Capabilities
    # the account in use, so that sandbox and production are never mixed up
    environment: str = ""

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Platform:
        return cls()

    @classmethod
    def check_study(cls, requirements: Requirements, study: StudyTerms) -> None:
        """Refuse what this platform does not offer, without asking its server."""
        if study.demands:
            raise GenieError(
                f"{cls.title} cannot do what [human.study] asks for: "
                f"{', '.join(study.demands)}. Remove it or choose another platform.",
                code="requirement-not-checked",
            )

    @abstractmethod
    def publish(self, campaign: CampaignSpec) -> Result:
        """Publish the offer; the same key again returns the same name."""

    def post(self, ref: ExternalRef, hits: Sequence[HITSpec]) -> Iterator[Result]:
        """Post HITs of an offer, in any order; none if our server assigns them."""
        return (Result(hit.key, "done", hit.key) for hit in hits)

    @abstractmethod
    def add_capacity(
        self, ref: ExternalRef, more: Sequence[MoreSpec]
    ) -> Iterator[Result]: ...

    def retype(self, ref: ExternalRef, hits: Mapping[str, str]) -> Iterator[Result]:
        """Move HITs, by our keys, to the offer; refused if one was taken."""
        return (Result(key, "refused") for key in hits)

    @abstractmethod
    def close(self, ref: ExternalRef) -> Result:
        """End the offer; open work may be finished."""

    @abstractmethod
    def resume(self, ref: ExternalRef) -> Result: ...

    def find(self, key: str) -> str:
        """Return the platform's name of what was offered under our key, or ""."""
        return ""

    def page_of(self, ref: ExternalRef) -> str:
        return ""

    @abstractmethod
    def identity(self, parameters: Mapping[str, str]) -> Identity: ...

    def vouches_for(self, who: Identity) -> bool | None:
        """Check whether the platform knows this visit; None if it cannot be asked."""
        return None

    @abstractmethod
    def completion(self, who: Identity, outcome: Outcome) -> Completion: ...

    @abstractmethod
    def sync(self, ref: ExternalRef, since: datetime | None) -> Iterator[SessionEvent]:
        """Yield the events since a moment, possibly some of them twice."""

    def hints(self) -> Iterator[frozenset[str]]:
        """Yield the platform's names of HITs that may have changed.

        Requesting the next item confirms that the previous one was processed.
        """
        yield from ()

    @abstractmethod
    def decide(self, decisions: Sequence[DecisionSpec]) -> Iterator[Result]:
        """Approve or reject; the same decision again changes nothing."""

    @abstractmethod
    def bonus(self, bonuses: Sequence[BonusSpec]) -> Iterator[Result]:
        """Pay bonuses; the result has the platform's name of a payment."""

    @abstractmethod
    def exclude(self, key: str, worker_id: str, pool: str, reason: str) -> Result: ...

    @abstractmethod
    def include(self, key: str, worker_id: str, pool: str) -> Result: ...

    @abstractmethod
    def balance_cents(self) -> int | None:
        """Return the available money, in cents of `currency`; None without an account."""

    def currency(self) -> str:
        return "USD"

    def check_filters(self, requirements: Requirements, study: StudyTerms) -> None:
        """Ask the platform whether it can filter by the requirements; refuse if not."""
        return None

    def quote(
        self,
        *,
        reward_cents: int,
        n_items: int,
        n_test_questions: int,
        max_assignments: int = 1,
    ) -> Quote:
        return quote(
            platform=self.slug,
            reward_cents=reward_cents,
            n_items=n_items,
            n_test_questions=n_test_questions,
            ratings_per_item=max_assignments,
            max_assignments=max_assignments,
        )


def all_platforms() -> dict[str, type[Platform]]:
    return discover("crowd.platforms", Platform)


def kind_of(slug: str) -> type[Platform]:
    platforms = all_platforms()
    if slug not in platforms:
        raise GenieError(
            f"There is no platform {slug!r}. Choose from: {', '.join(platforms)}.",
            code="unknown-platform",
        )
    return platforms[slug]


def get(slug: str, options: Mapping[str, Any] | None = None) -> Platform:
    return kind_of(slug).from_options(options or {})
