"""The test questions of a campaign whose pages show one output."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from crowd.hits.services.build import ItemSpec
from crowd.scales.base import all_scales
from genie.lib.seeds import generator, seed_from
from leaderboard.designs.base import Design, content_key
from leaderboard.evaluation.services.hidden.offers import (
    CLOSE_TO,
    CONFIRMED,
    EDIT,
    N_CANDIDATES,
    REFERENCE,
    Known,
    Seen,
    edited,
    not_public_yet,
    outputs_of,
    seen_of,
    swapped,
    used_texts,
)
from leaderboard.submissions.models import Submission
from leaderboard.tasks.config import NEGATIVE, POSITIVE, HumanConfig
from leaderboard.tasks.config.human import form_criteria, marked_criteria
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import (
    design_of,
    instances_for_tests,
    shown,
    task_view,
)
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
    return {**threshold, **named(criteria, marked)}


def named(criteria: Mapping[str, str], marked: Sequence[str]) -> dict[str, Any]:
    """Return the names of the marked criteria if there are others beside them."""
    return {"criteria": list(marked)} if len(criteria) > 1 else {}


def blank_data(
    task: Task, human: HumanConfig, design: Design, instance: Instance
) -> dict[str, Any]:
    return dict(design.data(task_view(task, human), shown(instance), [""]))


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


# Of positive questions that no own output can fill, one in this many comes from other
# systems, and from public texts.
LENT, PUBLIC = 2, 3
# kinds with texts that cannot be looked up
HIDDEN = (CONFIRMED, CLOSE_TO)


@dataclass(frozen=True)
class _Draw:
    taken: Taken
    seen: Seen
    row_of: Mapping[int, Instance]
    seed: int

    def choose(
        self, source: Sequence[Offer], n: int, *, again: bool = False
    ) -> list[Offer]:
        usable = self.taken.usable(source, again=again) if n > 0 else []
        order = self.seen.chosen(usable, self.row_of, n, seed=self.seed)
        return self.taken.choose(order, n, again=again)

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
        task,
        seed,
        n=n,
        inside=human.tests_inside_sample,
        references=design.needs_reference,
    )
    row_of = {row.pk: row for row in instances}
    draw = _Draw(
        Taken(used_texts(task, but=campaign_key) | set(used)),
        seen_of(task, systems, instances),
        row_of,
        seed,
    )
    blank = {row.pk: blank_data(task, human, design, row) for row in instances}
    marked = marked_criteria(human, criteria)[POSITIVE]
    shows = any({"reference", "standard"} & set(data) for data in blank.values())
    known = Known(task, human, marked, instances, shows)
    bad: list[Offer] = []
    if systems and n_negative:
        good = _good(known, systems, draw, n_positive)
        draw = replace(draw, seen=draw.seen.beside(good, row_of))
        bad = _edits_like(known, systems, harms_of(human, criteria), draw, good)
    else:
        sources = chain(known.own(systems), known.public(systems))
        good = draw.choose_from(sources, n_positive)
        draw = replace(draw, seen=draw.seen.beside(good, row_of))
    if n_negative:
        # Without good ones, workers who call everything bad would pass: some questions
        # are missing, and staff are asked.
        n_left = (n if good else n_negative) - len(good) - len(bad)
        bad += _wrong(task, human, criteria, systems, instances, draw, n_left)
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


def _good(
    known: Known, systems: Sequence[Submission], draw: _Draw, n: int
) -> list[Offer]:
    """Choose positive questions, own outputs first.

    If own outputs are missing, the system is bad and good texts look unlike it. Then
    there are fewer: workers who call everything bad do little harm there and are tested
    elsewhere. Publicly known texts are the fewest.
    """
    good = draw.choose_from(known.own(systems), n)
    missing = n - len(good)
    if missing:
        others = known.own(list(not_public_yet(known.task, systems)))
        good += draw.choose_from(others, -(-missing // LENT))
        n_public = -(-missing // PUBLIC) - (len(good) - n + missing)
        good += draw.choose_from(known.public(systems), n_public)
    return good


def _edits_like(
    known: Known,
    systems: Sequence[Submission],
    harms: Mapping[str, Sequence[str]],
    draw: _Draw,
    good: Sequence[Offer],
) -> list[Offer]:
    """Choose half as many edits of others' outputs as there are good ones.

    Without these, outputs of other systems would always be right.
    """
    own = {system.pk for system in systems}
    n = (
        sum(o.kind in HIDDEN and o.made_from["submission"] not in own for o in good)
        // 2
    )
    if n == 0:
        return []
    sources = known.own(list(not_public_yet(known.task, systems)))
    offers = [*chain.from_iterable(chain.from_iterable(s.values()) for s in sources)]
    order = generator(seed_from("edits of lent texts", draw.seed)).permutation(
        len(offers)
    )
    outputs: dict[int, list[tuple[int, str]]] = {}
    for offer in draw.taken.usable([offers[int(place)] for place in order]):
        text = (offer.made_from["submission"], offer.text)
        outputs.setdefault(offer.instance_pk, [text])
    rows = [row for pk, row in draw.row_of.items() if pk in outputs]
    edits = edited(known.task, rows, outputs, harms, seed=draw.seed)
    return draw.choose(list(chain.from_iterable(edits)), n)


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
    edits = edited(task, order, outputs, harms, seed=draw.seed)
    sources = [list(chain.from_iterable(edits))]
    on = list(harms[FLUENCY]) if blind else content
    if on:
        others = swapped(order, on, blind=blind, seed=draw.seed)
        sources.append(list(chain.from_iterable(others)))
    for again in (False, True):
        for source in sources:
            groups = sorted({offer.group for offer in source})
            for place, group in enumerate(groups):
                # Questions on content and on form in equal parts.
                part = -(-(n - len(chosen)) // (len(groups) - place))
                of_group = [offer for offer in source if offer.group == group]
                chosen += draw.choose(of_group, part, again=again)
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
