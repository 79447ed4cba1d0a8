"""What everybody can see of the texts of a task, test questions among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from crowd.hits.services.build import ItemSpec, order_of_hits
from leaderboard.evaluation.services.hidden.offers import Offer
from leaderboard.submissions.models.submission import Prediction, Submission
from leaderboard.tasks.models import Instance, Task
from quality.test_questions.separability.blend import blend_in
from quality.test_questions.separability.features import (
    Floats,
    Surface,
    surface_features,
)

# Of so many other systems' public outputs a script is expected to know.
N_PUBLISHED = 5
# Candidates for each question among which those are chosen that look like real items.
N_CANDIDATES = 4


@dataclass(frozen=True)
class Seen:
    """Texts of a task's instances that are public, and what is judged in a campaign."""

    task: Task
    published: Mapping[int, Sequence[str]]
    # the items that are judged
    real: Sequence[Surface]

    def surface(
        self, instance: Instance, text: str, *, key: str = "", position: float = 0.0
    ) -> Surface:
        """Describe a text that is shown for an instance."""
        public = [] if self.task.hidden_references else list(instance.references)
        return Surface(
            text=text,
            source=" ".join(str(value) for value in instance.fields.values()),
            references=public,
            published=self.published.get(instance.pk, ()),
            key=key,
            position=position,
            listed=instance.sample_rank < self.task.sample_size,
        )

    def beside(self, offers: Sequence[Offer], row_of: Mapping[int, Instance]) -> Seen:
        """Count these texts as much as the items that are judged.

        What is chosen then looks like both: neither test from real item nor good test from
        bad one can be told.
        """
        surfaces = [self.surface(row_of[o.instance_pk], o.text) for o in offers]
        times = len(self.real) // len(surfaces) if surfaces else 0
        return replace(self, real=[*self.real, *surfaces * times])

    def chosen(
        self,
        offers: Sequence[Offer],
        row_of: Mapping[int, Instance],
        n: int,
        *,
        seed: int,
    ) -> list[list[Offer]]:
        """Put the offers first that together look like what is judged."""
        if len(offers) <= 1 or not self.real or n == 0:
            return [[offer] for offer in offers]
        surfaces = []
        for offer in offers:
            seen = self.surface(row_of[offer.instance_pk], offer.text)
            surfaces.append(_of_input(seen, str(offer.instance_pk)))
        first = blend_in(surfaces, self.real, n, seed)
        rest = [at for at in range(len(offers)) if at not in set(first)]
        return [[offers[at]] for at in [*first, *rest]]


def seen_of(
    task: Task, systems: Sequence[Submission], instances: Sequence[Instance]
) -> Seen:
    """Read what is public of a task, and what these systems say of the sample."""
    own = [system.pk for system in systems]
    others = Submission.objects.filter(
        task=task,
        state=Submission.State.PUBLISHED,
        visibility=Submission.Visibility.PUBLIC,
    ).exclude(pk__in=own)
    pks = list(others.order_by("-pk").values_list("pk", flat=True)[:N_PUBLISHED])
    published: dict[int, list[str]] = {row.pk: [] for row in instances}
    rows = Prediction.objects.filter(submission__in=pks, instance__in=published)
    for instance, text in rows.values_list("instance_id", "text"):
        published[instance].append(text)
    seen = Seen(task, published, [])
    row_of = {row.pk: row for row in instances}
    judged = Prediction.objects.filter(
        submission__in=own[:1],
        instance__in=row_of,
        instance__sample_rank__lt=task.sample_size,
    ).order_by("instance__position")
    real = [
        seen.surface(row_of[instance], text)
        for instance, text in judged.values_list("instance_id", "text")
    ]
    return Seen(task, published, real)


@dataclass(frozen=True)
class Compared:
    """What can be seen of tests and of real items; `groups` keeps an input in one fold."""

    tests: Floats
    items: Floats
    groups: list[int]


def compared(
    seen: Seen,
    rows: Mapping[str, Instance],
    judged: Sequence[ItemSpec],
    tests: Sequence[ItemSpec],
    *,
    seed: int,
) -> Compared:
    """Describe a campaign's tests and real items as one worker sees them.

    Who is asked a test is never given the real item of the same input, so repeats are
    not counted between the two.
    """
    specs = [*tests, *judged]
    place_of = {at: place for place, at in enumerate(order_of_hits(specs, seed))}
    surfaces = [
        seen.surface(
            rows[spec.content_key],
            str(spec.data["prediction"]),
            key=spec.key,
            position=place_of[at] / len(specs),
        )
        for at, spec in enumerate(specs)
    ]
    n, asked = len(tests), {spec.content_key for spec in tests}
    left = [
        surface
        for spec, surface in zip(judged, surfaces[n:], strict=True)
        if spec.content_key not in asked
    ]
    return Compared(
        surface_features([*surfaces[:n], *left])[:n],
        surface_features(surfaces[n:]),
        [rows[spec.content_key].position for spec in specs],
    )


def _of_input(surface: Surface, key: str) -> Surface:
    """Say which input it is, of which at most one text is taken."""
    return Surface(
        surface.text,
        surface.source,
        surface.references,
        surface.published,
        input_key=key,
        listed=surface.listed,
    )
