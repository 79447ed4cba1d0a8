import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from crowd.campaigns.selectors.starved import nobody_else_comes
from crowd.campaigns.services import undo
from crowd.hits.models import Assignment, Campaign, Item, Rating
from crowd.hits.services.build import (
    ItemSpec,
    close_free_slots,
)
from crowd.scales.base import all_scales
from crowd.workers.services.known_answers import guesses_of, marks_of
from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from
from genie.lib.unguessable import name_for
from quality.test_questions.models import Grade, Polarity, TestQuestion


# Make test questions and hide them among a campaign's items.
#
# crowd shows test questions without knowing it: they are items like all others, their
# keys are made with the site's secret, and only `TestQuestion` identifies them.
@dataclass(frozen=True)
class Material:
    content_key: str
    data: Mapping[str, Any]
    reference: str


@dataclass(frozen=True)
class HiddenItem:
    """A test question before it is built: the item, and the right answer.

    `expected` adds to polarity and scale, see `crowd.workers.services.known_answers`.
    """

    spec: ItemSpec
    polarity: str
    expected: Mapping[str, Any] = field(default_factory=dict)
    # how its text was made, for `TestQuestion`
    kind: str = ""
    made_from: Mapping[str, Any] = field(default_factory=dict)
    text_sha256: str = ""


def item_key(campaign_key: str, *parts: str) -> str:
    """Return a key that does not reveal the item's kind."""
    return name_for("item", campaign_key, *parts)


def draw_items(
    *,
    campaign_key: str,
    material: Sequence[Material],
    n_positive: int,
    n_negative: int,
    seed: int,
    expected: Mapping[str, Mapping[str, Any]] | None = None,
    blind: bool = False,
) -> list[HiddenItem]:
    """Make positive and negative test questions from references (Genie, section 5).

    Positive: a reference in place of the prediction. Negative: the references,
    cyclically permuted, so that no input meets its own. If raters do not see the input
    (`blind`), another input's reference is no worse; then the words are shuffled.
    `expected` has the right answer for each polarity.
    """
    if n_positive + n_negative == 0:
        return []
    if len(material) < 2:
        raise GenieError(
            "Test questions need references of at least two instances.",
            code="too-few-references",
        )
    rng = generator(seed_from("test questions", seed))
    order = [material[int(index)] for index in rng.permutation(len(material))]
    # Positive ones from the front, negative ones from the back, so that as few inputs
    # as possible are used for both.
    positives = [
        _with_text(campaign_key, m, m.reference, Polarity.POSITIVE)
        for m in order[:n_positive]
    ]
    permuted = _permute(order, rng)
    if blind:
        permuted = [(judged, shuffled_words(other, rng)) for judged, other in permuted]
    negatives = [
        _with_text(campaign_key, m, other, Polarity.NEGATIVE)
        for m, other in permuted[::-1][:n_negative]
    ]
    if len(positives) < n_positive or len(negatives) < n_negative:
        raise GenieError(
            f"There are references for {len(positives)} positive and {len(negatives)} "
            f"negative test questions, but {n_positive} and {n_negative} are needed.",
            code="too-few-references",
        )
    if expected is None:
        return positives + negatives
    return [
        replace(question, expected=expected[question.polarity])
        for question in positives + negatives
    ]


def shuffled_words(text: str, rng: np.random.Generator) -> str:
    """Shuffle a text's words until the text differs; a single word is reversed."""
    words = text.split()
    if len(set(words)) < 2:
        return text.strip()[::-1]
    while True:
        shuffled = [words[int(index)] for index in rng.permutation(len(words))]
        if shuffled != words:
            return " ".join(shuffled)


def _permute(
    order: Sequence[Material], rng: np.random.Generator
) -> list[tuple[Material, str]]:
    shift = int(rng.integers(1, len(order)))
    rotated = [*order[shift:], *order[:shift]]
    return [
        (judged, other.reference)
        for judged, other in zip(order, rotated, strict=True)
        # Two instances may share a reference or an input; then the answer would not be
        # wrong.
        if other.reference.strip() != judged.reference.strip()
        and other.content_key != judged.content_key
    ]


def _with_text(
    campaign_key: str, material: Material, shown: str, polarity: Polarity
) -> HiddenItem:
    return HiddenItem(
        spec=ItemSpec(
            key=item_key(campaign_key, polarity.lower(), material.content_key),
            data={**material.data, "prediction": shown},
            content_key=material.content_key,
        ),
        polarity=polarity,
    )


def place(campaign: Campaign, hidden: Sequence[HiddenItem]) -> None:
    """Store which of the campaign's items are test questions, known only here."""
    by_key = {question.spec.key: question for question in hidden}
    items = Item.objects.filter(campaign=campaign, key__in=list(by_key))
    TestQuestion.objects.bulk_create(
        [
            TestQuestion(
                campaign=campaign,
                item_id=pk,
                polarity=by_key[key].polarity,
                expected=dict(by_key[key].expected),
                kind=by_key[key].kind,
                made_from=dict(by_key[key].made_from),
                text_sha256=by_key[key].text_sha256,
            )
            for pk, key in items.values_list("pk", "key")
        ],
        batch_size=2_000,
    )


# Texts that could be test questions, and the choice among them, without repetition.
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

    def choose(self, offered: Iterable[Sequence[Offer]], n: int) -> list[Offer]:
        """Take up to `n` offers, one per instance."""
        chosen: list[Offer] = []
        for offers in offered:
            if len(chosen) >= n:
                break
            offer = next(iter(self.usable(offers)), None)
            if offer is None:
                continue
            self.texts.add(offer.text_sha256)
            self.instances.add(offer.instance_pk)
            chosen.append(offer)
        return chosen

    def usable(self, offers: Iterable[Offer]) -> list[Offer]:
        return [
            offer
            for offer in offers
            if offer.text_sha256 not in self.texts
            and offer.instance_pk not in self.instances
        ]


def fingerprint(text: str) -> str:
    """Hash a text by its words, regardless of spaces and case."""
    return hashlib.sha256(" ".join(text.split()).casefold().encode()).hexdigest()


# Test questions for items that show several outputs at once.
@dataclass(frozen=True)
class LineUp:
    """An input with outputs in their slots; their quality need not be known."""

    content_key: str
    data: Mapping[str, Any]
    # slot -> text, in the order of the page
    outputs: Mapping[str, str]
    # a text that is known to be good
    reference: str


def draw_pairs(
    *,
    campaign_key: str,
    material: Sequence[LineUp],
    n: int,
    seed: int,
    blind: bool = False,
    expected: Mapping[str, Any] | None = None,
    edits: Mapping[str, Offer] | None = None,
) -> list[HiddenItem]:
    """Pair each input's good text with a wrong one, in a drawn order.

    The wrong text is an edited output if the input has one, else another's good text.
    The good one must be preferred. There are no negative questions: a worker who always
    takes the same side is right half of the time, which the detectors distinguish from
    good work.
    """
    rng = generator(seed_from("test questions", seed))
    questions = []
    edits = edits or {}
    edited = [line_up for line_up in material if line_up.content_key in edits][:n]
    pairs = [(line_up, edits[line_up.content_key].text) for line_up in edited]
    others = [line_up for line_up in material if line_up.content_key not in edits]
    pairs += _with_strangers(others, n - len(pairs), rng, blind)
    # Each side is right equally often, so that a worker who always takes one fails
    # half.
    sides = rng.permutation(len(pairs)) % 2
    for side, (line_up, other) in zip(sides, pairs, strict=True):
        slots = list(line_up.outputs)[:2]
        right = slots[int(side)]
        texts = {slot: line_up.reference if slot == right else other for slot in slots}
        questions.append(
            _hidden(
                campaign_key,
                line_up,
                texts,
                {"slot": right},
                expected,
                edits.get(line_up.content_key),
            )
        )
    return questions


def draw_line_ups(
    *,
    campaign_key: str,
    material: Sequence[LineUp],
    n: int,
    seed: int,
    blind: bool = False,
    expected: Mapping[str, Any] | None = None,
    edits: Mapping[str, tuple[int, Offer]] | None = None,
) -> list[HiddenItem]:
    """Put a wrong text in place of one output: it must not come out best.

    The text is an edit of the output in the place that `edits` has for the input; else
    another input's reference, in a drawn place. The order of the outputs is drawn.
    """
    rng = generator(seed_from("test questions", seed))
    edits = edits or {}
    edited = [line_up for line_up in material if line_up.content_key in edits][:n]
    others = [line_up for line_up in material if line_up.content_key not in edits]
    if len(others) <= n - len(edited):
        others = [line_up for line_up in material if line_up not in edited]
    wrong = [(line_up, edits[line_up.content_key][1].text) for line_up in edited]
    wrong += _with_strangers(others, n - len(edited), rng, blind)
    questions = []
    for at, (line_up, text) in enumerate(wrong):
        slots, outputs = list(line_up.outputs), list(line_up.outputs.values())
        place, edit = int(rng.integers(len(outputs))), None
        if at < len(edited):
            place, edit = edits[line_up.content_key]
        outputs[place] = text
        # As for real items: no system is always shown in the same place.
        mixed = [int(place) for place in rng.permutation(len(outputs))]
        texts = {slot: outputs[at] for slot, at in zip(slots, mixed, strict=True)}
        answer = {"not_best": slots[mixed.index(place)]}
        questions.append(_hidden(campaign_key, line_up, texts, answer, expected, edit))
    return questions


def _with_strangers(
    material: Sequence[LineUp], n: int, rng: np.random.Generator, blind: bool
) -> list[tuple[LineUp, str]]:
    """Return `n` inputs, each with a text that is wrong for it."""
    if n == 0:
        return []
    order = [material[int(index)] for index in rng.permutation(len(material))]
    shift = int(rng.integers(1, len(order))) if len(order) > 1 else 0
    rotated = [*order[shift:], *order[:shift]]
    pairs = [
        (line_up, shuffled_words(other.reference, rng) if blind else other.reference)
        for line_up, other in zip(order, rotated, strict=True)
        if other.reference.strip() != line_up.reference.strip()
        and other.content_key != line_up.content_key
    ]
    if len(pairs) < n:
        raise GenieError(
            f"There are references for {len(pairs)} test questions, but {n} "
            f"are needed.",
            code="too-few-references",
        )
    return pairs[:n]


def _hidden(
    campaign_key: str,
    line_up: LineUp,
    texts: Mapping[str, str],
    answer: Mapping[str, Any],
    expected: Mapping[str, Any] | None,
    made: Offer | None = None,
) -> HiddenItem:
    return HiddenItem(
        spec=ItemSpec(
            key=item_key(campaign_key, "compared", line_up.content_key),
            data={
                **line_up.data,
                "outputs": [
                    {"slot": slot, "text": text} for slot, text in texts.items()
                ],
            },
            content_key=line_up.content_key,
        ),
        polarity=Polarity.POSITIVE,
        expected={**(expected or {}), **answer},
        kind=made.kind if made else "",
        made_from=made.made_from if made else {},
        text_sha256=made.text_sha256 if made else "",
    )


# End a campaign although test questions and second answers are left over.
State = Assignment.State


@transaction.atomic
def settle(campaign: Campaign, now: datetime | None = None) -> int:
    """Close test questions and second answers that are not needed; return how many.

    No worker gets an input twice to end a campaign: an output without any answer waits.
    """
    # The lock prevents that an exclusion reissues work in between.
    locked = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
    tests = test_hits(locked)
    if locked.state != Campaign.State.RUNNING or not tests.exists():
        return 0
    hits = locked.hits.all()
    judged = hits.exclude(pk__in=tests)
    if judged.filter(assignments__state=State.ACCEPTED).exists():
        return 0
    waiting = judged.filter(n_available__gt=0)
    if waiting.exists() and not nobody_else_comes(locked, now or timezone.now()):
        return 0
    counting = Q(assignments__state__in=COUNTED, assignments__replaced_at=None)
    answered = waiting.annotate(n=Count("assignments", filter=counting))
    if answered.filter(n__lt=locked.answers_per_hit or 1).exists():
        return 0
    return close_free_slots(hits)


def test_hits(campaign: Campaign) -> QuerySet[Item, int]:
    placed = TestQuestion.objects.filter(campaign=campaign).values("item")
    return Item.objects.filter(pk__in=placed).values_list("hit", flat=True)


# Which answer to a test question is right.
#
# A test question's `expected` adds to its polarity; see
# `crowd.workers.services.known_answers` for its keys.

# Probabilities of being right without reading, see `known_answers.guesses_of`.
Guesses = tuple[float, ...]


@dataclass(frozen=True)
class Marked:
    criterion: str
    slot: str
    value: float


def marks(
    answers: Sequence[Marked],
    *,
    polarity: str,
    expected: Mapping[str, Any],
    threshold: float,
) -> dict[str, bool]:
    """Return, by criterion, whether a worker's answers to a question are right."""
    return marks_of(
        answers, expected, good=polarity == Polarity.POSITIVE, threshold=threshold
    )


def guesses(
    expected: Mapping[str, Any], polarity: str, scale: str, slots: Sequence[str]
) -> Guesses:
    """Compute the probability of a right answer given without reading."""
    good = polarity == Polarity.POSITIVE
    return guesses_of(expected, good=good, scale=all_scales()[scale], slots=slots)


# Mark the answers to test questions right or wrong.
COUNTED = (Assignment.State.SUBMITTED, Assignment.State.APPROVED)


def grade(campaign: Campaign) -> int:
    """Grade the ungraded answers; return the number of new grades.

    A rating above the scale's threshold counts as "good" (Genie, section 5: binarized
    at 0.5), on each marked criterion by itself. Check marks beside the ratings do not
    count, nor do questions of several criteria that do not define which can be marked.
    """
    settled = timezone.now() - undo.CHANGEABLE
    old = Q(assignment__submitted_at__lte=settled) | Q(assignment__submitted_at=None)
    n = _grade(campaign, old)
    with transaction.atomic():
        # The lock keeps answers unchanged while they are marked.
        Campaign.objects.select_for_update(of=("self",), no_key=True).get(
            pk=campaign.pk
        )
        return n + _grade(campaign, Q(assignment__submitted_at__gt=settled))


def again(assignment: Assignment) -> None:
    """Regrade an assignment with changed answers; callers lock the campaign."""
    if Grade.objects.filter(assignment=assignment).delete()[0]:
        _grade(assignment.hit.campaign, Q(assignment=assignment))


def _grade(campaign: Campaign, which: Q) -> int:
    threshold = all_scales()[campaign.hit_type.scale].binary_threshold
    several = len(campaign.hit_type.criteria) > 1
    test_questions = {
        test_question.item_id: test_question
        for test_question in TestQuestion.objects.filter(campaign=campaign)
        if "criteria" in test_question.expected or not several
    }
    done = set(
        Grade.objects.filter(test_question__campaign=campaign).values_list(
            "test_question_id", "assignment_id"
        )
    )
    values: dict[tuple[int, int, int], list[Marked]] = {}
    answers = Rating.objects.filter(
        which,
        item__in=list(test_questions),
        assignment__state__in=COUNTED,
        criterion__in=list(campaign.hit_type.criteria),
    ).values_list(
        "item_id",
        "assignment_id",
        "assignment__worker_id",
        "criterion",
        "slot",
        "value",
    )
    for item_id, assignment_id, worker_id, criterion, slot, value in answers:
        key = (item_id, assignment_id, worker_id)
        values.setdefault(key, []).append(Marked(criterion, slot, value))
    new = [
        Grade(
            test_question=test_questions[item_id],
            assignment_id=assignment_id,
            worker_id=worker_id,
            pool_id=campaign.pool_id,
            criterion=criterion,
            polarity=test_questions[item_id].polarity,
            correct=correct,
        )
        for (item_id, assignment_id, worker_id), marked in sorted(
            values.items(), key=lambda pair: pair[0]
        )
        if (test_questions[item_id].pk, assignment_id) not in done
        for criterion, correct in marks(
            marked,
            polarity=test_questions[item_id].polarity,
            expected=test_questions[item_id].expected,
            threshold=threshold,
        ).items()
    ]
    # Two processes may grade one campaign; the first row stays.
    Grade.objects.bulk_create(new, ignore_conflicts=True, batch_size=2_000)
    return len(new)
