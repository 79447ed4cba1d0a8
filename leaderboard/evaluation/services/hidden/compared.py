"""Features that a script can compare: a campaign's tests and real items, good and bad.

Everything that is publicly visible counts: an item's texts beside its input, beside
references and public outputs, its place and its key. A worker never gets a test and the
real item of the same input, so repetitions between the two are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crowd.hits.services.build import ItemSpec, order_of_hits
from leaderboard.designs.base import content_key
from leaderboard.evaluation.services.hidden.offers import seen_of
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task
from quality.test_questions.models import Polarity
from quality.test_questions.separability.features import Surface, page_features
from quality.test_questions.separability.measure import Sides
from quality.test_questions.services import HiddenItem


class Compared:
    """A campaign's real items, with which draws of its test questions are compared."""

    def __init__(
        self,
        task: Task,
        systems: Sequence[Submission],
        judged: Sequence[ItemSpec],
        *,
        own: bool = True,
        first_group: int = 0,
    ) -> None:
        self.judged, self.first_group = judged, first_group
        every = list(task.instances.order_by("position"))
        self.rows = {content_key(task.slug, row.instance_id): row for row in every}
        self.seen = seen_of(task, systems, every, own=own)
        self.is_new = True

    def add(self, drawn: Sequence[HiddenItem], sides: Sides, *, seed: int) -> None:
        specs = [*(item.spec for item in drawn), *self.judged]
        place_of = {at: place for place, at in enumerate(order_of_hits(specs, seed))}
        pages = [
            self._page(spec, place_of[at] / len(specs)) for at, spec in enumerate(specs)
        ]
        n, asked = len(drawn), {item.spec.content_key for item in drawn}
        left = [
            page
            for spec, page in zip(self.judged, pages[n:], strict=True)
            if spec.content_key not in asked
        ]
        tests, texts = page_features([*pages[:n], *left])
        described = iter(texts)
        for item, page in zip(drawn, tests[:n], strict=True):
            group, shown = self._group(item.spec), _texts(item.spec)
            sides.tests.add(page, group, *shown)
            for right, text in zip(_right(item), shown, strict=True):
                side = sides.good if right else sides.bad
                side.add(next(described), group, text)
        if self.is_new and self.judged:
            for spec, page in zip(
                self.judged, page_features(pages[n:])[0], strict=True
            ):
                sides.real.add(page, self._group(spec), *_texts(spec))
        self.is_new = False

    def _group(self, spec: ItemSpec) -> int:
        return self.first_group + self.rows[spec.content_key].position

    def _page(self, spec: ItemSpec, position: float) -> list[Surface]:
        row = self.rows[spec.content_key]
        return [
            self.seen.surface(row, text, key=spec.key, position=position)
            for text in _texts(spec)
        ]


def _texts(spec: ItemSpec) -> list[str]:
    if "prediction" in spec.data:
        return [str(spec.data["prediction"])]
    return [str(output["text"]) for output in spec.data["outputs"]]


def _right(item: HiddenItem) -> Iterator[bool]:
    if "prediction" in item.spec.data:
        yield item.polarity == Polarity.POSITIVE
        return
    for output in item.spec.data["outputs"]:
        if "slot" in item.expected:
            yield output["slot"] == item.expected["slot"]
        else:
            yield output["slot"] != item.expected["not_best"]
