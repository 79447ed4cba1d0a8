"""All answers of a pool's workers, in the form that the model of workers takes.

Test questions with their marks, and ratings of real items. Here a campaign represents
the systems rated in it.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db.models import Count, Max, Q, QuerySet

from crowd.hits.models import Assignment, Campaign, Rating
from crowd.scales.base import Scale, all_scales
from crowd.workers.models.worker import Worker
from genie.lib.database import prepare
from quality.detection.stats.assess import Ratings, Tests
from quality.test_questions.models import Grade, TestQuestion
from quality.test_questions.services import COUNTED, Guesses, Marked, guesses, marks

# A worker's record in a pool, for the choice of the next HIT.
#
# The queries never depend on the last HIT, so that their duration is no clue.

# Polarity of a question, and the probability of a right answer without reading.
Kind = tuple[str, Guesses]
# questions that are not retired, or that staff have restored
COUNTING = Q(retired_at=None) | Q(restored_at__isnull=False)


@dataclass(frozen=True)
class Record:
    """One worker in one pool.

    Parameters
    ----------
    n_shown : int
        HITs that they were given, including returned ones.
    tests : list of (Kind, bool)
        Kind of each answered test question and whether it was right, in the order of
        answering.
    """

    n_shown: int
    tests: list[tuple[Kind, bool]] = field(default_factory=list)

    @property
    def n_tests(self) -> int:
        return len(self.tests)

    def counts(self, first: int | None = None) -> dict[Kind, tuple[int, int]]:
        """Count (right, all) answers by kind, optionally of the first few only."""
        counts: dict[Kind, tuple[int, int]] = {}
        for kind, correct in self.tests[:first]:
            right, asked = counts.get(kind, (0, 0))
            counts[kind] = (right + correct, asked + 1)
        return counts


def record_of(worker: Worker, pool: str) -> Record:
    """Count the worker's HITs and mark their answers to test questions.

    Two queries, without stored grades, which may not be written yet.
    """
    n_shown = dict(_count_hits(worker.pk, pool)).get(worker.pk, 0)
    return Record(n_shown, _tally(_read_answers(worker.pk, pool)))


_count_hits = prepare(
    lambda worker, pool: (
        Assignment.objects.filter(worker=worker, hit__campaign__pool=pool)
        .order_by()
        .values_list("worker")
        .annotate(n=Count("pk"))
    )
)
_read_answers = prepare(
    lambda worker, pool: (
        TestQuestion.objects.filter(
            COUNTING,
            campaign__pool=pool,
            item__ratings__assignment__worker=worker,
            item__ratings__assignment__state__in=COUNTED,
        )
        .order_by("item__ratings__assignment", "item__ratings")
        .values_list(
            "item",
            "polarity",
            "expected",
            "campaign__hit_type__criteria",
            "campaign__hit_type__scale",
            "item__ratings__criterion",
            "item__ratings__slot",
            "item__ratings__value",
        )
    )
)


def _tally(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Kind, bool]]:
    questions: dict[int, tuple[Any, ...]] = {}
    answers: dict[int, list[Marked]] = {}
    for item, *question, criterion, slot, value in rows:
        _, expected, criteria, _ = question
        # With several criteria such a question cannot be marked, see `grade`.
        if criterion in criteria and (len(criteria) == 1 or "criteria" in expected):
            questions[item] = tuple(question)
            answers.setdefault(item, []).append(Marked(criterion, slot, value))
    tests = []
    for item, marked in answers.items():
        polarity, expected, _, scale = questions[item]
        by_criterion = marks(
            marked,
            polarity=polarity,
            expected=expected,
            threshold=all_scales()[scale].binary_threshold,
        )
        # One question is one piece of evidence: its criteria were read together.
        right = 2 * sum(by_criterion.values()) > len(by_criterion)
        own = guesses(expected, polarity, scale, sorted({one.slot for one in marked}))
        tests.append(((str(polarity), own), right))
    return tests


# Use only this many of the newest ratings, which bounds the cost of a fit.
MOST_RATINGS = 200_000
# Workers needed to estimate how hard the questions of one origin are.
LEAST_WORKERS = 12


@dataclass(frozen=True)
class Evidence:
    """The input of a fit, with the labels behind its numbers.

    Parameters
    ----------
    workers : list of int
        Their keys, ascending.
    questions : list of (int, str)
        Placements and the criteria on which they are marked, ascending.
    kinds : list of str
        Polarity, criterion and origin of each kind of question.
    guesses : tuple of tuple of float
        Probabilities of right answers without reading, for each kind.
    rated_items : list of int
        The key of each rating's item.
    """

    workers: list[int]
    questions: list[tuple[int, str]]
    kinds: list[str]
    guesses: tuple[tuple[float, ...], ...]
    tests: Tests
    ratings: Ratings | None
    rated_items: list[int]

    @property
    def sha256(self) -> str:
        hashed = hashlib.sha256(repr((self.workers, self.kinds)).encode())
        for part in (self.tests, self.ratings):
            for column in vars(part).values() if part is not None else ():
                hashed.update(np.ascontiguousarray(column).tobytes())
        return hashed.hexdigest()

    @property
    def n_ratings(self) -> int:
        return 0 if self.ratings is None else len(self.ratings.value)

    @property
    def n_questions(self) -> Any:
        """Count each worker's test questions, one for all of its criteria."""
        test_questions = _codes([test_question for test_question, _ in self.questions])
        pairs = np.stack([self.tests.worker, test_questions[self.tests.question]])
        return np.bincount(np.unique(pairs, axis=1)[0], minlength=len(self.workers))


def evidence_of(pool: str, *, simulated: bool) -> Evidence:
    """Return the graded test questions that count and the newest ratings of a pool."""
    grades = _grades(pool, simulated)
    rated = _rated_rows(pool, simulated, of_tests=False)
    # Only one output at a time has a level to compare with.
    answers = {
        (row[1], row[2][0], row[5]): row
        for row in _rated_rows(pool, simulated, of_tests=True)
        if not row[2][1]
    }
    answered = [answers.get((row[1], row[6], row[7]), _UNRATED) for row in grades]
    instances = _codes([row[4] for row in rated + answered])
    criteria = _codes([row[5] for row in rated + answered])
    n_rated = len(rated)
    workers = sorted({row[0] for row in grades} | {row[0] for row in rated})
    number = {pk: i for i, pk in enumerate(workers)}
    # in the order of answering
    steps = {row[:2] for row in grades} | {row[:2] for row in rated}
    place: dict[tuple[int, int], int] = {}
    counts = dict.fromkeys(workers, 0)
    for worker, assignment in sorted(steps):
        place[worker, assignment] = counts[worker]
        counts[worker] += 1
    guesses_by_kind = {row[3]: row[5] for row in grades}
    kinds = sorted(guesses_by_kind)
    questions = sorted({row[2] for row in grades})
    tests = Tests(
        worker=_ints([number[row[0]] for row in grades]),
        question=_codes([row[2] for row in grades]),
        kind=_codes([row[3] for row in grades]),
        correct=np.array([row[4] for row in grades], dtype=bool),
        order=_ints([place[row[0], row[1]] for row in grades]),
        value=np.array([row[6] for row in answered], dtype=np.float64),
        instance=instances[n_rated:],
        criterion=criteria[n_rated:],
        seconds=np.array([row[7] for row in answered], dtype=np.float64),
    )
    by_habit = tuple(guesses_by_kind[kind] for kind in kinds)
    ratings = None
    if rated:
        ratings = Ratings(
            worker=_ints([number[row[0]] for row in rated]),
            item=_codes([row[2] for row in rated]),
            system=_codes([row[3] for row in rated]),
            instance=instances[:n_rated],
            criterion=criteria[:n_rated],
            value=np.array([row[6] for row in rated], dtype=np.float64),
            order=_ints([place[row[0], row[1]] for row in rated]),
            seconds=np.array([row[7] for row in rated], dtype=np.float64),
        )
    items = [row[2][0] for row in rated]
    return Evidence(workers, questions, kinds, by_habit, tests, ratings, items)


def stamp_of(pool: str, *, simulated: bool) -> list[int]:
    """Count graded answers, the last one, retired questions, and answers.

    If these are unchanged, so is the fit.
    """
    grades = Grade.objects.filter(pool=pool, worker__simulated=simulated)
    counted = grades.aggregate(n=Count("pk"), last=Max("pk"))
    retired = TestQuestion.objects.filter(campaign__pool=pool).exclude(COUNTING)
    answered = Assignment.objects.filter(
        hit__campaign__pool=pool, state__in=COUNTED, worker__simulated=simulated
    )
    return [counted["n"], counted["last"] or 0, retired.count(), answered.count()]


def label_of(kind: str) -> str:
    polarity, _, criterion, origin = kind.split(":", 3)
    words = [polarity.lower(), criterion and f"on {criterion}"]
    return " ".join([*filter(None, words), *([f"({origin})"] if origin else [])])


def _grades(
    pool: str, simulated: bool
) -> list[tuple[int, int, tuple[int, str], str, bool, Guesses, int, str]]:
    counting = TestQuestion.objects.filter(COUNTING, campaign__pool=pool)
    grades = Grade.objects.filter(
        pool=pool, worker__simulated=simulated, test_question__in=counting
    )
    of_question = _guesses_by_question(counting)
    rows = grades.order_by(
        "worker_id", "assignment_id", "test_question_id", "criterion"
    ).values_list(
        "worker_id",
        "assignment_id",
        "test_question_id",
        "polarity",
        "criterion",
        "test_question__kind",
        "correct",
        "test_question__item",
        "test_question__campaign__hit_type__criteria",
    )
    listed = [(*row, of_question[row[2]]) for row in rows]
    kind_of = _told_apart((row[0], (*row[3:6], row[9])) for row in listed)
    return [
        (
            *(worker, work, (pk, kind[1]), kind_of[(*kind, own)], correct, own),
            *(item, kind[1] or next(iter(criteria), "")),
        )
        for worker, work, pk, *kind, correct, item, criteria, own in listed
    ]


def _guesses_by_question(questions: QuerySet[TestQuestion]) -> dict[int, Guesses]:
    rated = Rating.objects.filter(item__in=questions.order_by().values("item"))
    slots: dict[int, list[str]] = {}
    pairs = rated.order_by("item", "slot").values_list("item", "slot").distinct()
    for item, slot in pairs:
        slots.setdefault(item, []).append(slot)
    rows = questions.order_by("pk").values_list(
        "pk", "item", "expected", "polarity", "campaign__hit_type__scale"
    )
    return {
        pk: guesses(expected, polarity, scale, slots.get(item, ()))
        for pk, item, expected, polarity, scale in rows
    }


def _told_apart(rows: Iterable[tuple[int, tuple[Any, ...]]]) -> dict[Any, str]:
    """Return kinds of questions, with their origin only if enough workers met it.

    For a rare kind the model could only find that its key may be wrong.
    """
    workers: dict[tuple[Any, ...], set[int]] = {}
    for worker, kind in rows:
        workers.setdefault(kind, set()).add(worker)
    return {
        (polarity, criterion, origin, own): ":".join(
            [
                polarity,
                " ".join(f"{share:g}" for share in own),
                criterion,
                origin if len(met) >= LEAST_WORKERS else "",
            ]
        )
        for (polarity, criterion, origin, own), met in workers.items()
    }


Rated = tuple[int, int, tuple[int, str], int, int, str, float, float]
# an answer without a value between two ends
_UNRATED: Rated = (0, 0, (0, ""), 0, 0, "", np.nan, np.nan)


def _rated_rows(pool: str, simulated: bool, *, of_tests: bool) -> list[Rated]:
    """Return worker, assignment, output, campaign, input, criterion, value, seconds.

    Values are between 0 and 1 if the scale has ends; comparisons and magnitudes have
    none.
    """
    placed = TestQuestion.objects.filter(campaign__pool=pool).order_by()
    asking = Q(item__in=placed.values("item"))
    rows = (
        Rating.objects.filter(
            asking if of_tests else ~asking,
            item__campaign__pool=pool,
            assignment__state__in=COUNTED,
            assignment__worker__simulated=simulated,
        )
        .order_by("-pk")
        .values_list(
            "assignment__worker_id",
            "assignment_id",
            "item_id",
            "slot",
            "item__campaign_id",
            "item__hit__input_id",
            "item__hit__input__in_pool_id",
            "criterion",
            "value",
            "assignment__active_seconds",
        )
    )
    scales = {
        name: ends for name, scale in all_scales().items() if (ends := _ends(scale))
    }
    # Per campaign, not per answer, of which there are many more.
    campaigns = Campaign.objects.filter(pool=pool).order_by()
    kinds = {
        pk: kind
        for pk, *kind in campaigns.values_list(
            "pk", "hit_type__scale", "hit_type__criteria"
        )
    }
    rated: list[Rated] = []
    for worker, work, item, slot, campaign, own, shared, name, value, time in rows[
        :MOST_RATINGS
    ]:
        scale, asked = kinds[campaign]
        if scale not in scales or name not in asked:
            continue
        low, high = scales[scale]
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        key, seconds = (item, slot), np.nan if time is None else time
        rated.append((worker, work, key, campaign, shared or own, name, share, seconds))
    return sorted(rated, key=lambda row: row[:7])


def _ends(scale: type[Scale]) -> tuple[float, float] | None:
    if scale.compares or scale.relative:
        return None
    if not scale.options:
        return scale.minimum, scale.maximum
    values = [option.value for option in scale.options]
    return min(values), max(values)


def _ints(numbers: Sequence[int]) -> Any:
    return np.array(numbers, dtype=np.int64)


def _codes(labels: Sequence[Any]) -> Any:
    number = {label: i for i, label in enumerate(sorted(set(labels)))}
    return _ints([number[label] for label in labels])
