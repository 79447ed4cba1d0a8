"""The visible features of a task's texts, including test questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leaderboard.evaluation.services.hidden.offers import Offer
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.tasks.models import Instance, Task
from quality.test_questions.separability.blend import blend_in
from quality.test_questions.separability.features import Surface

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
    # test questions chosen so far
    tests: Sequence[Surface] = ()

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
            listed=instance.sample_rank < self.task.sample_size,
        )

    def beside(self, offers: Sequence[Offer], row_of: Mapping[int, Instance]) -> Seen:
        """Weight these chosen texts as much as the rated items.

        The next choice then resembles both, so that neither tests and real items nor
        good and bad tests can be distinguished.
        """
        surfaces = [self.surface(row_of[o.instance_pk], o.text) for o in offers]
        times = len(self.real) // len(surfaces) if surfaces else 0
        return replace(self, real=[*self.real, *surfaces * times], tests=surfaces)

    def chosen(
        self,
        offers: Sequence[Offer],
        row_of: Mapping[int, Instance],
        n: int,
        *,
        seed: int,
    ) -> list[list[Offer]]:
        """Order offers so that the first together resemble the rated outputs."""
        if len(offers) <= 1 or not self.real or n == 0:
            return [[offer] for offer in offers]
        surfaces = []
        for offer in offers:
            seen = self.surface(row_of[offer.instance_pk], offer.text)
            surfaces.append(_of_input(seen, str(offer.instance_pk)))
        first = blend_in(surfaces, self.real, n, seed, chosen=self.tests)
        rest = [at for at in range(len(offers)) if at not in set(first)]
        return [[offers[at]] for at in [*first, *rest]]


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
        task=task,
        state=Submission.State.PUBLISHED,
        visibility=Submission.Visibility.PUBLIC,
    ).order_by("-pk")
    others = public.exclude(pk__in=asked).values_list("pk", flat=True)
    pks = list(others[:N_PUBLISHED])
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
        instance__sample_rank__lt=task.sample_size,
    ).order_by("instance__position")
    real = [
        seen.surface(row_of[instance], text)
        for instance, text in judged.values_list("instance_id", "text")
    ]
    return Seen(task, published, real)


def _of_input(surface: Surface, key: str) -> Surface:
    return Surface(
        surface.text,
        surface.source,
        surface.references,
        surface.published,
        input_key=key,
        listed=surface.listed,
    )
