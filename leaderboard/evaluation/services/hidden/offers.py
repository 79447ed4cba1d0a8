"""Texts that could be test questions, and the choice among them, without repetition."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from crowd.workers.selectors.qualifications import texts_of_tests
from leaderboard.evaluation.models.drawn_tests import DrawnTests
from leaderboard.evaluation.models.states import State
from leaderboard.tasks.models import Task
from quality.test_questions.models import Placement
from quality.test_questions.services import HiddenItem

REFERENCE, CONFIRMED, SETTLED = "reference", "confirmed", "settled"
CLOSE_TO = "close"
SWAPPED, SHUFFLED, EDIT = "swapped", "shuffled", "edit:"
# States in which drawn questions are being asked, or will be.
ASKING = (State.APPROVED, State.ANNOTATING)


@dataclass(frozen=True)
class Offer:
    """A text for one instance and its known quality.

    `criteria` are those on which it is known to be good, or bad. `group` is the harm;
    questions come in equal parts from the groups.
    """

    instance_pk: int
    text: str
    kind: str
    criteria: Sequence[str]
    made_from: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""

    @property
    def text_sha256(self) -> str:
        return fingerprint(self.text)


@dataclass(frozen=True)
class Planned:
    items: list[HiddenItem]
    n_wanted: int
    notes: list[str] = field(default_factory=list)


@dataclass
class Taken:
    """The texts and instances that a campaign's questions have used so far."""

    texts: set[str]
    instances: set[int] = field(default_factory=set)

    def choose(
        self, offered: Iterable[Sequence[Offer]], n: int, *, again: bool = False
    ) -> list[Offer]:
        """Take up to `n` offers, one per instance; `again` allows an instance twice."""
        chosen: list[Offer] = []
        for offers in offered:
            if len(chosen) >= n:
                break
            offer = self._best(offers, again=again)
            if offer is None:
                continue
            self.texts.add(offer.text_sha256)
            self.instances.add(offer.instance_pk)
            chosen.append(offer)
        return chosen

    def _best(self, offers: Sequence[Offer], *, again: bool) -> Offer | None:
        return next(iter(self.usable(offers, again=again)), None)

    def usable(self, offers: Iterable[Offer], *, again: bool = False) -> list[Offer]:
        return [
            offer
            for offer in offers
            if offer.text_sha256 not in self.texts
            and (again or offer.instance_pk not in self.instances)
        ]


def fingerprint(text: str) -> str:
    """Hash a text by its words, regardless of spaces and case."""
    return hashlib.sha256(" ".join(text.split()).casefold().encode()).hexdigest()


def used_texts(task: Task, *, but: str = "") -> set[str]:
    """Return fingerprints of past, present and planned tests, without campaign `but`."""
    placed = Placement.objects.filter(campaign__pool=task.slug)
    placed = placed.exclude(campaign__key=but).exclude(text_sha256="")
    drawn = DrawnTests.objects.filter(
        evaluation__task=task, evaluation__state__in=ASKING
    ).exclude(campaign_key=but)
    return {
        *placed.values_list("text_sha256", flat=True),
        *chain.from_iterable(drawn.values_list("texts", flat=True)),
        *(fingerprint(text) for text in texts_of_tests(task.slug)),
    }
