"""Features that a script can compare: a campaign's tests and real items, good and bad.

Everything that is publicly visible counts: an item's texts beside its input, beside
references and public outputs, its place and its key. Workers who pool what they saw
also know how often an input came, and with which texts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from crowd.hits.services.build import ItemSpec, order_of_hits
from genie.lib.seeds import generator, seed_from
from leaderboard.designs.base import content_key
from leaderboard.evaluation.services.hidden.apart import texts_of
from leaderboard.evaluation.services.hidden.offers import seen_of
from leaderboard.submissions.models import Submission
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Task
from quality.test_questions.models import Polarity
from quality.test_questions.separability.features import (
    Surface,
    page_features,
    pooled_features,
)
from quality.test_questions.separability.measure import Sides
from quality.test_questions.services import HiddenItem

ONE = "one worker"
# Who looks: how many workers pool what they saw, and whether they know the campaigns.
VIEWS: Mapping[str, tuple[int, bool]] = {
    ONE: (1, True),
    **{
        f"{n} workers who pool what they saw{known * ' and know the campaigns'}": (
            n,
            known,
        )
        for n in (2, 3, 5)
        for known in (False, True)
    },
}


def views() -> dict[str, Sides]:
    return {name: Sides() for name in VIEWS}


class Compared:
    """What workers see of a campaign, whose draws of test questions are compared.

    `share` is the part of its items that one worker gets.
    """

    def __init__(
        self,
        task: Task,
        human: HumanConfig,
        systems: Sequence[Submission],
        *,
        own: bool = True,
        first_group: int = 0,
    ) -> None:
        self.human, self.first_group = human, first_group
        every = list(task.instances.order_by("position"))
        self.rows = {content_key(task.slug, row.instance_id): row for row in every}
        self.seen = seen_of(task, systems, every, own=own)
        self.is_new = True

    def add(
        self,
        drawn: Sequence[HiddenItem],
        judged: Sequence[ItemSpec],
        sides_of: Mapping[str, Sides],
        *,
        seed: int,
        beside: Sequence[ItemSpec] = (),
    ) -> None:
        """Add one draw to each view; `beside` has items of other campaigns."""
        specs = [*(item.spec for item in drawn), *judged]
        place_of = {at: place for place, at in enumerate(order_of_hits(specs, seed))}
        pages = [
            self._page(spec, place_of[at] / len(specs)) for at, spec in enumerate(specs)
        ]
        rows, texts = page_features(pages)
        of_page = np.split(texts, np.cumsum([len(page) for page in pages])[:-1])
        names = [_name(spec) for spec in specs]
        for view, (n, known) in VIEWS.items():
            met, pool = self._met(specs, n, seed), Counter[tuple[str, str]]()
            if n > 1:
                for at, times in met.items():
                    pool[names[at]] += times
                others = {} if known else self._met(beside, n, seed)
                for at, times in others.items():
                    pool[_name(beside[at])] += times
            sides = sides_of[view]
            for at in sorted(met):
                # What one worker sees of real items is the same in each draw.
                if at >= len(drawn) and n == 1 and not self.is_new:
                    continue
                more = pooled_features([names[at]], pool)[0] if n > 1 else ()
                group, shown = self._group(specs[at]), texts_of(specs[at].data)
                side = sides.tests if at < len(drawn) else sides.real
                side.add(np.append(rows[at], more), group, *shown)
                right = _right(drawn[at]) if at < len(drawn) else ()
                for good, row, text in zip(right, of_page[at], shown, strict=False):
                    part = sides.good if good else sides.bad
                    part.add(np.append(row, more), group, text)
        self.is_new = False

    def _met(self, specs: Sequence[ItemSpec], n: int, seed: int) -> Counter[int]:
        """Return how often items come to `n` of the workers, each with an equal part."""
        if n == 1:
            return Counter(range(len(specs)))
        rng = generator(seed_from("pooled", n, seed))
        n_workers = max(n, math.ceil(1 / self.human.share_of_one))
        n_each = self.human.ratings_per_instance
        twice = {*rng.permutation(len(specs))[: self.human.n_twice(len(specs), n_each)]}
        met = Counter[int]()
        for at in range(len(specs)):
            answers = min(n_each + (at in twice), n_workers)
            met[at] = int((rng.permutation(n_workers)[:answers] < n).sum())
        return +met

    def _group(self, spec: ItemSpec) -> int:
        return self.first_group + self.rows[spec.content_key].position

    def _page(self, spec: ItemSpec, position: float) -> list[Surface]:
        row = self.rows[spec.content_key]
        return [
            self.seen.surface(row, text, key=spec.key, position=position)
            for text in texts_of(spec.data)
        ]


def _name(spec: ItemSpec) -> tuple[str, str]:
    return spec.content_key, "\n".join(texts_of(spec.data))


def _right(item: HiddenItem) -> Iterator[bool]:
    if "prediction" in item.spec.data:
        yield item.polarity == Polarity.POSITIVE
        return
    for output in item.spec.data["outputs"]:
        if "slot" in item.expected:
            yield output["slot"] == item.expected["slot"]
        else:
            yield output["slot"] != item.expected["not_best"]
