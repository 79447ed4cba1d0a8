"""A task's texts that could be test questions, and which of them resemble its outputs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from crowd.workers.selectors.requirements import texts_of_tests
from genie.lib.seeds import generator, seed_from
from leaderboard.evaluation.models.human_evaluation import (
    ConfirmedOutput,
)
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.submissions.selectors import is_published
from leaderboard.submissions.states import State
from leaderboard.tasks.config import EDITED, HumanConfig
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.inputs import SET_ASIDE
from quality.test_questions.edits.edit import Edit, kinds_that_harm
from quality.test_questions.edits.make import edits_of, likeness
from quality.test_questions.models import DrawnTests, TestQuestion
from quality.test_questions.separability.features import Surface, blend_in
from quality.test_questions.services import Offer, fingerprint, shuffled_words

REFERENCE, CONFIRMED = "reference", "confirmed"
CLOSE_TO = "close"
SWAPPED, SHUFFLED, EDIT = "swapped", "shuffled", "edit:"
# States in which drawn questions are being asked, or will be.
ASKING = (State.APPROVED, State.ANNOTATING)


def known_texts(
    task: Task, systems: Collection[Submission], instances: Collection[Instance]
) -> set[str]:
    """Return fingerprints of public references, and of outputs that occur twice."""
    outputs = Prediction.objects.filter(submission__in=systems)
    times = Counter(map(fingerprint, outputs.values_list("text", flat=True)))
    public = () if task.hidden_references else instances
    return {
        *(text for text, n in times.items() if n > 1),
        *(fingerprint(text) for row in public for text in row.references),
    }


def used_texts(task: Task, *, but: str = "") -> set[str]:
    """Return fingerprints of past, present and planned tests, without campaign `but`."""
    placed = TestQuestion.objects.filter(campaign__pool=task.slug)
    placed = placed.exclude(campaign__key=but).exclude(text_sha256="")
    drawn = DrawnTests.objects.filter(
        evaluations__task=task, evaluations__state__in=ASKING
    ).exclude(campaign_key=but)
    return {
        *placed.values_list("text_sha256", flat=True),
        *chain.from_iterable(drawn.values_list("texts", flat=True)),
        *(fingerprint(text) for text in texts_of_tests(task.slug)),
    }


# Texts that are known to be good: confirmed by staff, close to a reference, or one.
TRANSLATION = "translation"
# Words and pairs of words shared with a reference (F1) above which an output of a good
# system is right; translations share more, right or wrong.
CLOSE, CLOSE_TRANSLATION = 0.35, 0.65


@dataclass(frozen=True)
class Known:
    """Sources of a campaign's good texts.

    `shows_reference`: pages show the first reference, so that another is the better
    one.
    """

    task: Task
    human: HumanConfig
    marked: Sequence[str]
    instances: Sequence[Instance]
    shows_reference: bool = False

    def own(self, systems: Collection[Submission]) -> Iterator[dict[int, list[Offer]]]:
        """Yield systems' outputs that staff confirmed, then those close to a reference."""
        yield _confirmed_offers(self.marked, systems, self.instances)
        yield _close(self.task, self.marked, systems, self.instances)

    def references(self) -> dict[int, list[Offer]]:
        """Return references, unless they are public: then they are known to be tests."""
        if self.human.test_questions == EDITED and not self.task.hidden_references:
            return {}
        first = 1 if self.shows_reference else 0
        return {
            row.pk: [
                Offer(row.pk, text, REFERENCE, self.marked)
                for text in row.references[first:] or row.references
            ]
            for row in self.instances
        }


def _confirmed_offers(
    marked: Sequence[str],
    systems: Collection[Submission],
    instances: Sequence[Instance],
) -> dict[int, list[Offer]]:
    rows = ConfirmedOutput.objects.filter(
        prediction__submission__in=systems, prediction__instance__in=instances
    ).select_related("prediction")
    offers = defaultdict(list)
    for row in rows.order_by("pk"):
        offers[row.prediction.instance_id].append(
            _offer(row.prediction, CONFIRMED, marked)
        )
    return offers


def _close(
    task: Task,
    marked: Sequence[str],
    systems: Collection[Submission],
    instances: Sequence[Instance],
) -> dict[int, list[Offer]]:
    """Offer own outputs that nearly equal a reference, of good systems only.

    A system counts as good if half of its outputs are that close. Now and then, a bad
    one that copies words comes close as well, and is wrong all the same.
    """
    least = CLOSE_TRANSLATION if task.kind == TRANSLATION else CLOSE
    references_of = {row.pk: row.references for row in instances}
    offers = defaultdict(list)
    for system in systems:
        rows = list(
            Prediction.objects.filter(submission=system, instance__in=references_of)
        )
        close = [
            row
            for row in rows
            if any(
                likeness(row.text, r) >= least for r in references_of[row.instance_id]
            )
        ]
        if 2 * len(close) >= len(rows):
            for row in close:
                offers[row.instance_id].append(_offer(row, CLOSE_TO, marked))
    return offers


def _offer(row: Prediction, kind: str, criteria: Sequence[str]) -> Offer:
    made_from = {"submission": row.submission_id}
    return Offer(row.instance_id, row.text, kind, criteria, made_from)


# Texts that are known to be wrong: outputs with a minimal edit, swapped references.

# Number of edits of one output to choose from.
N_OF_AN_OUTPUT = 6
Texts = Mapping[int, Sequence[tuple[int | None, str]]]


def outputs_of(
    task: Task, systems: Sequence[Submission], instances: Sequence[Instance]
) -> dict[int, list[tuple[int, str]]]:
    """Return outputs with submissions: these systems', or a published one's."""
    shown = [system.pk for system in systems]
    if not shown:
        public = Submission.objects.filter(
            is_published(), task=task, visibility=Submission.Visibility.PUBLIC
        )
        shown = [*public.order_by("pk").values_list("pk", flat=True)[:1]]
    outputs: dict[int, list[tuple[int, str]]] = {row.pk: [] for row in instances}
    for pk in shown:
        rows = Prediction.objects.filter(submission=pk, instance__in=outputs)
        for instance, text in rows.values_list("instance_id", "text"):
            outputs[instance].append((pk, text))
    return outputs


def edit_outputs(
    task: Task,
    instances: Sequence[Instance],
    outputs: Texts,
    harms: Mapping[str, Sequence[str]],
    *,
    seed: int,
) -> Iterator[list[Offer]]:
    """Yield edits of each instance's first editable output; `harms` lists criteria."""
    others = {pk: texts[0][1] for pk, texts in outputs.items() if texts}
    kinds = {
        kind: harm
        for harm, criteria in harms.items()
        if criteria
        for kind in kinds_that_harm(harm, says_everything=task.kind == TRANSLATION)
    }
    for instance in instances:
        for submission, text in outputs.get(instance.pk, ()):
            edits = edits_of(
                text,
                language=task.target_language,
                source_texts=[str(value) for value in instance.fields.values()],
                other_texts=[t for pk, t in others.items() if pk != instance.pk],
                same_input=[str(reference) for reference in instance.references],
                kinds=list(kinds),
                seed=seed,
            )[:N_OF_AN_OUTPUT]
            # Outputs of others may be public; own outputs are not yet.
            if edits:
                yield [
                    Offer(
                        instance.pk,
                        edit.text,
                        f"{EDIT}{edit.kind}",
                        harms[kinds[edit.kind]],
                        {"submission": submission, "edit": record_of(edit)},
                        kinds[edit.kind],
                    )
                    for edit in edits
                ]
                break


def record_of(edit: Edit) -> dict[str, object]:
    return {
        "kind": edit.kind,
        "before": edit.before,
        "after": edit.after,
        "start": edit.start,
        "change": edit.change,
        "sentence": edit.sentence,
    }


def swap_references(
    instances: Sequence[Instance], criteria: Sequence[str], *, blind: bool, seed: int
) -> Iterator[list[Offer]]:
    """Yield other instances' references (Genie, section 5), each used once.

    If pages hide the input, another reference is no worse: words are shuffled instead.
    """
    rng = generator(seed_from("swapped references", seed))
    shift = int(rng.integers(1, len(instances))) if len(instances) > 1 else 0
    rotated = [*instances[shift:], *instances[:shift]]
    for instance, other in zip(instances, rotated, strict=True):
        own = {text.strip() for text in instance.references}
        texts = [text for text in other.references if text.strip() not in own]
        # Two instances may have the same input, and then it would not be wrong.
        if instance.fields == other.fields:
            texts = []
        if blind:
            texts = [shuffled_words(text, rng) for text in texts]
        kind = SHUFFLED if blind else SWAPPED
        made_from = {"instance": other.instance_id}
        yield [Offer(instance.pk, text, kind, criteria, made_from) for text in texts]


# The visible features of a task's texts, including test questions.

# A script is expected to know this many other systems' public outputs.
N_PUBLISHED = 5
# Candidates for each question, from which those like real items are chosen.
N_CANDIDATES = 4


@dataclass(frozen=True)
class Seen:
    """Public texts of a task's instances, and the rated outputs of a campaign."""

    task: Task
    published: Mapping[int, Sequence[str]]
    # the rated items
    real: Sequence[Surface]

    def surface(
        self, instance: Instance, text: str, *, key: str = "", position: float = 0.0
    ) -> Surface:
        public = () if self.task.hidden_references else tuple(instance.references)
        return Surface(
            text=text,
            source=" ".join(str(value) for value in instance.fields.values()),
            references=public,
            published=tuple(self.published.get(instance.pk, ())),
            key=key,
            position=position,
            listed=instance.sample_rank < n_asked(self.task),
        )

    def order_offers(
        self,
        offers: Sequence[Sequence[Offer]],
        row_of: Mapping[int, Instance],
        wanted: Sequence[int],
        *,
        seed: int,
    ) -> list[tuple[list[Offer], ...]]:
        """Return of each side the offers that resemble the rated outputs, and the rest.

        Outputs that are only close to a reference come last of the good ones.
        """
        every = [(side, one) for side, some in enumerate(offers) for one in some]
        surfaces = [
            replace(
                self.surface(row_of[one.instance_pk], one.text),
                input_key=str(one.instance_pk),
            )
            for _, one in every
        ]
        first = blend_in(
            surfaces,
            self.real,
            wanted,
            seed,
            sides=[side for side, _ in every],
            unsure=[one.kind == CLOSE_TO for _, one in every],
        )
        left = sorted({*range(len(every))} - {*first})
        return [
            tuple(
                [every[at][1] for at in some if every[at][0] == side]
                for some in (first, left)
            )
            for side in range(len(offers))
        ]


def n_asked(task: Task) -> int:
    """Return how many inputs a campaign asks about: as outputs or as tests."""
    human = task.human
    more = SET_ASIDE * sum(human.n_test_questions(task.sample_size))
    return task.sample_size + more * (human.test_questions == EDITED)


def seen_of(
    task: Task,
    systems: Sequence[Submission],
    instances: Sequence[Instance],
    *,
    own: bool = False,
) -> Seen:
    """Read public texts and these outputs; with `own`, those on the board are public."""
    asked = [system.pk for system in systems]
    public = Submission.objects.filter(
        is_published(),
        task=task,
        visibility=Submission.Visibility.PUBLIC,
    ).order_by("-pk")
    pks = list(public.exclude(pk__in=asked).values_list("pk", flat=True)[:N_PUBLISHED])
    if own:
        pks += public.filter(pk__in=asked).values_list("pk", flat=True)
    published: dict[int, list[str]] = {row.pk: [] for row in instances}
    rows = Prediction.objects.filter(submission__in=pks, instance__in=published)
    for instance, text in rows.values_list("instance_id", "text"):
        published[instance].append(text)
    seen = Seen(task, published, [])
    row_of = {row.pk: row for row in instances}
    judged = Prediction.objects.filter(
        submission__in=asked[:1],
        instance__in=row_of,
        instance__sample_rank__lt=n_asked(task),
    ).order_by("instance__position")
    real = [
        seen.surface(row_of[instance], text)
        for instance, text in judged.values_list("instance_id", "text")
    ]
    return Seen(task, published, real)
