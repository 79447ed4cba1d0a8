"""The test questions of a campaign whose pages show one output."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from crowd.hits.services.build import ItemSpec
from crowd.scales.base import all_scales
from leaderboard.designs.base import Design, content_key
from leaderboard.evaluation.services.hidden.offers import (
    EDIT,
    N_CANDIDATES,
    REFERENCE,
    Known,
    Seen,
    edit_outputs,
    known_texts,
    outputs_of,
    seen_of,
    swap_references,
    used_texts,
)
from leaderboard.submissions.models import Submission
from leaderboard.tasks.config import NEGATIVE, POSITIVE, HumanConfig
from leaderboard.tasks.config.human import form_criteria, marked_criteria
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import (
    design_of,
    show_instance,
    task_view,
)
from leaderboard.tasks.services.inputs import instances_for_tests
from quality.test_questions.edits.edit import ADEQUACY, FLUENCY
from quality.test_questions.models import Polarity
from quality.test_questions.services import HiddenItem, Offer, Planned, Taken, item_key

# Right answers and the wording of test questions about one output.

# Beside a standard worth 100, "good" begins at half as good: the standard is itself a
# reference, so another reference need not be better.
GOOD_MAGNITUDE = 0.5


def expected_on(
    human: HumanConfig, criteria: Mapping[str, str], marked: Sequence[str]
) -> dict[str, Any]:
    threshold = (
        {"threshold": GOOD_MAGNITUDE} if all_scales()[human.scale].relative else {}
    )
    return {**threshold, **marks_if_several(criteria, marked)}


def marks_if_several(
    criteria: Mapping[str, str], marked: Sequence[str]
) -> dict[str, Any]:
    """Return the names of the marked criteria if there are others beside them."""
    return {"criteria": list(marked)} if len(criteria) > 1 else {}


def blank_data(
    task: Task, human: HumanConfig, design: Design, instance: Instance
) -> dict[str, Any]:
    return dict(design.data(task_view(task, human), show_instance(instance), [""]))


def question(
    task: Task,
    offer: Offer,
    instance: Instance,
    data: Mapping[str, Any],
    *,
    campaign_key: str,
    polarity: str,
    expected: Mapping[str, Any],
) -> HiddenItem:
    key = content_key(task.slug, instance.instance_id)
    return HiddenItem(
        spec=ItemSpec(
            key=item_key(campaign_key, polarity.lower(), key),
            data={**data, "prediction": offer.text},
            content_key=key,
        ),
        polarity=polarity,
        expected=expected,
        kind=offer.kind,
        made_from=offer.made_from,
        text_sha256=offer.text_sha256,
    )


# Of positive questions that no output can fill, one in this many shows a reference.
HIDDEN_REFERENCES = 3


@dataclass(frozen=True)
class _Draw:
    taken: Taken
    seen: Seen
    row_of: Mapping[int, Instance]
    seed: int

    def choose(
        self, sources: Sequence[Sequence[Offer]], wanted: Sequence[int]
    ) -> list[list[Offer]]:
        """Choose from all sources at once, as many as wanted of each."""
        usable = [self.taken.usable(source) for source in sources]
        order = self.seen.order_offers(usable, self.row_of, wanted, seed=self.seed)
        chosen = [
            self.taken.choose([[o] for o in first], len(first)) for first, _ in order
        ]
        # Two that were chosen may have the same text.
        for found, (_, left), n in zip(chosen, order, wanted, strict=True):
            found += self.taken.choose([[o] for o in left], n - len(found))
        return chosen

    def choose_both(
        self, own: Sequence[Offer], edits: Sequence[Offer], n_good: int, n_bad: int
    ) -> tuple[list[Offer], list[Offer]]:
        """Choose good texts and edits, on content and on form in equal parts."""
        groups = sorted({offer.group for offer in edits}) or [""]
        parts = [len(part) for part in np.array_split(range(n_bad), len(groups))]
        of_group = [[o for o in edits if o.group == group] for group in groups]
        good, *bad = self.choose([own, *of_group], [n_good, *parts])
        wrong = [*chain.from_iterable(bad)]
        return good, wrong + self.fill(n_bad - len(wrong), [edits])

    def fill(self, n: int, offers: Iterable[Sequence[Offer]]) -> list[Offer]:
        return self.choose([[*chain.from_iterable(offers)]], [n])[0] if n else []


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
    """Draw as many questions as the task wants, or as there are."""
    n_positive, n_negative = _numbers(human, criteria, n_items)
    n = n_positive + n_negative
    if n == 0:
        return Planned([], 0)
    design = design_of(task, human)
    instances = instances_for_tests(
        task, human, seed, n=n, references=design.needs_reference
    )
    row_of = {row.pk: row for row in instances}
    known_to_all = known_texts(task, systems, instances)
    draw = _Draw(
        Taken(used_texts(task, but=campaign_key) | set(used) | known_to_all),
        seen_of(task, systems, instances),
        row_of,
        seed,
    )
    blank = {row.pk: blank_data(task, human, design, row) for row in instances}
    marked = marked_criteria(human, criteria)[POSITIVE]
    shows = any({"reference", "standard"} & set(data) for data in blank.values())
    known = Known(task, human, marked, instances, shows)
    harms = harms_of(human, criteria)
    some = instances[: N_CANDIDATES * n]
    outputs = outputs_of(task, systems, some)
    edits = [*chain.from_iterable(edit_outputs(task, some, outputs, harms, seed=seed))]
    own = [o for s in known.own(systems) for pk in row_of for o in s.get(pk, ())]
    good, bad = draw.choose_both(own, edits, n_positive, n_negative)
    missing = n_positive - len(good)
    if systems:
        # If own outputs are missing, the system is bad and a reference looks unlike it.
        missing = -(-missing // HIDDEN_REFERENCES)
    good += draw.fill(missing, known.references().values())
    # Of a bad system few texts are good. More wrong ones in their place would tell the
    # answer by the system's style: questions are missing, and staff hear of it.
    blind = human.judged_blind(criteria)
    if on := list(harms[FLUENCY if blind else ADEQUACY]):
        others = swap_references(some, on, blind=blind, seed=seed)
        bad += draw.fill(n_negative - len(bad), others)
    items = [
        question(
            task,
            offer,
            row_of[offer.instance_pk],
            blank[offer.instance_pk],
            campaign_key=campaign_key,
            polarity=polarity,
            expected=expected_on(human, criteria, offer.criteria),
        )
        for polarity, offers in ((Polarity.POSITIVE, good), (Polarity.NEGATIVE, bad))
        for offer in offers
    ]
    return Planned(items, n, list(_notes(good, bad, n, n_positive)))


def _numbers(
    human: HumanConfig, criteria: Mapping[str, str], n_items: int
) -> tuple[int, int]:
    """Return how many questions should be positive and how many negative.

    The price includes all of them: if only one polarity can be marked on these
    criteria, all have that polarity.
    """
    n_positive, n_negative = human.n_test_questions(n_items)
    can_be_wrong = set(criteria) & set(chain(*harms_of(human, criteria).values()))
    can_be_right = marked_criteria(human, criteria)[POSITIVE]
    if not can_be_wrong:
        return (n_positive + n_negative if can_be_right else 0), 0
    if not can_be_right:
        return 0, n_positive + n_negative
    return n_positive, n_negative


def harms_of(
    human: HumanConfig, criteria: Mapping[str, str]
) -> dict[str, Sequence[str]]:
    """Return the criteria that wrong content affects, and those that bad form affects."""
    form = form_criteria(human, criteria)
    content = marked_criteria(human, criteria)[NEGATIVE]
    # If the input is hidden, only the form of a text can be wrong.
    if human.judged_blind(criteria):
        return {ADEQUACY: [], FLUENCY: form or content}
    return {ADEQUACY: content, FLUENCY: form}


def _notes(
    good: Sequence[Offer],
    bad: Sequence[Offer],
    n: int,
    n_positive: int,
) -> Iterator[str]:
    if n_positive and not good:
        yield (
            "No test question is positive, so workers who call everything bad are not "
            "noticed: the task has no references, and no output is confirmed by staff. "
            "Confirm some outputs as good."
        )
    n_references = sum(offer.kind == REFERENCE for offer in good)
    if n_references:
        yield (
            f"{n_references:,} of {len(good):,} positive test questions show a "
            "reference: too few outputs are confirmed by staff or rated well in "
            "a settled result."
        )
    n_swapped = sum(not offer.kind.startswith(EDIT) for offer in bad)
    if n_swapped:
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
