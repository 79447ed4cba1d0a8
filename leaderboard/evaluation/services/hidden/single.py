"""The test questions of a campaign whose pages show one output."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from leaderboard.evaluation.services.hidden import marks, wrong
from leaderboard.evaluation.services.hidden.good import good_texts
from leaderboard.evaluation.services.hidden.offers import (
    EDIT,
    REFERENCE,
    Offer,
    Planned,
    Taken,
    used_texts,
)
from leaderboard.evaluation.services.hidden.surfaces import (
    N_CANDIDATES,
    Seen,
    seen_of,
)
from leaderboard.submissions.models.submission import Submission
from leaderboard.tasks.config import EDITED, NEGATIVE, POSITIVE, HumanConfig
from leaderboard.tasks.config.marked import form_criteria, marked_criteria
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import design_of, instances_for_tests
from quality.test_questions.models import Polarity


@dataclass(frozen=True)
class _Draw:
    """What is chosen from, and what is used up."""

    taken: Taken
    seen: Seen
    row_of: Mapping[int, Instance]
    seed: int

    def choose(
        self, source: Sequence[Offer], n: int, *, again: bool = False
    ) -> list[Offer]:
        """Choose of one source those that together look like what is judged."""
        usable = self.taken.usable(source, again=again) if n > 0 else []
        order = self.seen.chosen(usable, self.row_of, n, seed=self.seed)
        return self.taken.choose(order, n, again=again)


def for_one_output(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    systems: Sequence[Submission],
    *,
    campaign_key: str,
    n_items: int,
    seed: int,
    used: Collection[str] = (),
) -> Planned:
    """Draw the questions of a campaign: as many as the task wants, or as there are."""
    marked = marked_criteria(human, criteria)
    n_positive, n_negative = human.n_test_questions(n_items)
    n = n_positive + n_negative
    # The price has all questions in it: where only one polarity can be marked on these
    # criteria, all are of that one.
    harms = harms_of(human, criteria)
    wrong_on = [name for name in criteria if name in set(chain(*harms.values()))]
    if not wrong_on:
        n_positive, n_negative = n, 0
    elif not marked[POSITIVE]:
        n_positive, n_negative = 0, n
    if not marked[POSITIVE]:
        n_positive = 0
    n = n_positive + n_negative
    if n == 0:
        return Planned([], 0)
    instances = instances_for_tests(task, seed, n=n, inside=human.tests_inside_sample)
    design = design_of(task, human)
    data = {row.pk: marks.blank_data(task, human, design, row) for row in instances[:1]}
    shows = any({"reference", "standard"} & set(entry) for entry in data.values())
    row_of = {row.pk: row for row in instances}
    draw = _Draw(
        Taken(used_texts(task, but=campaign_key) | set(used)),
        seen_of(task, systems, instances),
        row_of,
        seed,
    )
    good: list[Offer] = []
    for source in good_texts(
        task, human, marked[POSITIVE], systems, instances, shows_reference=shows
    ):
        good += draw.choose(source, n_positive - len(good))
    draw = replace(draw, seen=draw.seen.beside(good, row_of))
    bad = _wrong(task, human, criteria, systems, instances, draw, n_negative)
    items = [
        marks.question(
            task,
            offer,
            row_of[offer.instance_pk],
            marks.blank_data(task, human, design, row_of[offer.instance_pk]),
            campaign_key=campaign_key,
            polarity=polarity,
            expected=marks.expected_on(human, criteria, offer.criteria),
        )
        for polarity, offers in ((Polarity.POSITIVE, good), (Polarity.NEGATIVE, bad))
        for offer in offers
    ]
    return Planned(items, n, list(_notes(human, good, bad, n)))


def harms_of(
    human: HumanConfig, criteria: Mapping[str, str]
) -> dict[str, Sequence[str]]:
    """Give the criteria on which wrong content is bad, and those where bad form is."""
    form = form_criteria(human, criteria)
    content = marked_criteria(human, criteria)[NEGATIVE]
    # Where nobody sees the input, only how a text is said can be wrong.
    if human.judged_blind(criteria):
        return {wrong.ADEQUACY: [], wrong.FLUENCY: form or content}
    return {wrong.ADEQUACY: content, wrong.FLUENCY: form}


def _wrong(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    systems: Sequence[Submission],
    instances: Sequence[Instance],
    draw: _Draw,
    n: int,
) -> list[Offer]:
    """Choose edited outputs, then other instances' references where none are left."""
    if n == 0:
        return []
    harms = harms_of(human, criteria)
    # Instances that no other question is about come first.
    order = sorted(instances, key=lambda row: row.pk in draw.taken.instances)
    order = order[: max(N_CANDIDATES * n, len(draw.taken.instances) + 2 * n)]
    chosen: list[Offer] = []
    content = list(harms[wrong.ADEQUACY])
    blind = human.judged_blind(criteria)

    sources: list[list[Offer]] = []
    if human.test_questions == EDITED:
        outputs = wrong.outputs_of(task, systems, order)
        edits = wrong.edited(task, order, outputs, harms, seed=draw.seed)
        sources.append(list(chain.from_iterable(edits)))
    on = list(harms[wrong.FLUENCY]) if blind else content
    if on:
        others = wrong.swapped(order, on, blind=blind, seed=draw.seed)
        sources.append(list(chain.from_iterable(others)))
    for again in (False, True):
        for source in sources:
            groups = sorted({offer.group for offer in source})
            for place, group in enumerate(groups):
                # Questions on what is said and on how it is said, in equal parts.
                part = -(-(n - len(chosen)) // (len(groups) - place))
                of_group = [offer for offer in source if offer.group == group]
                chosen += draw.choose(of_group, part, again=again)
    return chosen


def _notes(
    human: HumanConfig, good: Sequence[Offer], bad: Sequence[Offer], n: int
) -> Iterator[str]:
    n_references = sum(offer.kind == REFERENCE for offer in good)
    if n_references:
        yield (
            f"{n_references:,} of {len(good):,} positive test questions show a "
            "reference: too few outputs are confirmed by staff or rated well in "
            "a settled result."
        )
    n_swapped = sum(not offer.kind.startswith(EDIT) for offer in bad)
    if n_swapped and human.test_questions == EDITED:
        yield (
            f"{n_swapped:,} of {len(bad):,} negative test questions show another "
            "instance’s reference, because no edit fits the outputs."
        )
    n_found = len(good) + len(bad)
    if n_found < n:
        yield (
            f"Only {n_found:,} of {n:,} test questions can be made without showing a "
            "text a second time."
        )
