"""The test questions of a campaign whose pages show one output."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

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

    def choose(self, source: Sequence[Offer], n: int) -> list[Offer]:
        usable = self.taken.usable(source) if n > 0 else []
        order = self.seen.choose_offers(usable, self.row_of, n, seed=self.seed)
        return self.taken.choose(order, n)

    def choose_from(
        self, sources: Iterator[Mapping[int, Sequence[Offer]]], n: int
    ) -> list[Offer]:
        chosen: list[Offer] = []
        while len(chosen) < n and (source := next(sources, None)) is not None:
            offers = chain.from_iterable(source.get(pk, ()) for pk in self.row_of)
            chosen += self.choose(list(offers), n - len(chosen))
        return chosen


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
    good = draw.choose_from(known.own(systems), n_positive)
    missing = n_positive - len(good)
    if systems:
        # If own outputs are missing, the system is bad and a reference looks unlike it.
        missing = -(-missing // HIDDEN_REFERENCES)
    good += draw.choose_from(iter([known.references()]), missing)
    bad: list[Offer] = []
    if n_negative:
        # Of a bad system few texts are good. More wrong ones in their place would tell
        # the answer by the system's style: questions are missing, and staff hear of it.
        bad = _wrong(task, human, criteria, systems, instances, draw, n_negative)
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


def _wrong(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    systems: Sequence[Submission],
    instances: Sequence[Instance],
    draw: _Draw,
    n: int,
) -> list[Offer]:
    if n == 0:
        return []
    harms = harms_of(human, criteria)
    # Instances without another question come first.
    order = sorted(instances, key=lambda row: row.pk in draw.taken.instances)
    order = order[: max(N_CANDIDATES * n, len(draw.taken.instances) + 2 * n)]
    chosen: list[Offer] = []
    content = list(harms[ADEQUACY])
    blind = human.judged_blind(criteria)

    outputs = outputs_of(task, systems, order)
    edits = edit_outputs(task, order, outputs, harms, seed=draw.seed)
    sources = [list(chain.from_iterable(edits))]
    on = list(harms[FLUENCY]) if blind else content
    if on:
        others = swap_references(order, on, blind=blind, seed=draw.seed)
        sources.append(list(chain.from_iterable(others)))
    for source in sources:
        groups = sorted({offer.group for offer in source})
        for place, group in enumerate(groups):
            # Questions on content and on form in equal parts.
            part = -(-(n - len(chosen)) // (len(groups) - place))
            of_group = [offer for offer in source if offer.group == group]
            chosen += draw.choose(of_group, part)
    return chosen


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
