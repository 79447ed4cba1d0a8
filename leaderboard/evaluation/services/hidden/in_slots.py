"""The test questions of pages that show several outputs: pairs and line-ups.

A page needs a text that is better than the edited one. That is an output of another
system there that staff confirmed or that is close to a reference; only without one it
is the reference itself, which a script may know.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from leaderboard.designs.base import SLOTS, content_key
from leaderboard.evaluation.services.hidden.offers import (
    REFERENCE,
    Known,
    edit_outputs,
    outputs_of,
    seen_of,
    used_texts,
)
from leaderboard.evaluation.services.hidden.single import harms_of, marks_if_several
from leaderboard.submissions.models import Submission
from leaderboard.tasks.config import EDITED, NEGATIVE, POSITIVE, HumanConfig
from leaderboard.tasks.config.human import marked_criteria
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import design_of, show_instance, task_view
from quality.test_questions.services import (
    HiddenItem,
    LineUp,
    Offer,
    Taken,
    draw_line_ups,
    draw_pairs,
)

# The outputs on each instance's page with their systems.
Pages = Mapping[int, Sequence[tuple[int, str]]]


def hidden_pairs(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    instances: Sequence[Instance],
    *,
    systems: Sequence[Submission] = (),
    campaign_key: str,
    n: int,
    seed: int,
    used: Collection[str] = (),
) -> list[HiddenItem]:
    """Draw questions that pair a good text with an edited output."""
    marked = marked_criteria(human, criteria)[NEGATIVE] if n else []
    good: dict[int, Offer] = {}
    edits: dict[int, Offer] = {}
    if systems and human.test_questions == EDITED:
        pages = outputs_of(task, systems, instances)
        made = _Edits(
            task,
            human,
            criteria,
            pages,
            campaign_key=campaign_key,
            seed=seed,
            used=used,
        )
        # If each page has a reference beside the output, tests have it, too.
        if not design_of(task, human).references_among:
            known = _good_on(task, human, marked, systems, instances, pages)
            edits, good = made.beside(instances, n, known)
        left = [row for row in instances if row.pk not in edits]
        references = {
            row.pk: [Offer(row.pk, row.references[-1], REFERENCE, marked)]
            for row in left
        }
        edits |= made.beside(left, n - len(edits), references)[0]
    instances = sorted(instances, key=lambda row: row.pk not in good)
    return draw_pairs(
        campaign_key=campaign_key,
        material=_material(task, human, instances, {}, good),
        n=n if marked else 0,
        seed=seed,
        blind=human.judged_blind(criteria),
        expected=marks_if_several(criteria, marked),
        edits=_by_key(task, instances, edits),
    )


def reference_pairs(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    instances: Sequence[Instance],
    *,
    campaign_key: str,
    seed: int,
) -> list[HiddenItem]:
    """Show each reference beside itself: one side must not be rated worse."""
    marked = marked_criteria(human, criteria)[POSITIVE]
    same = {
        row.pk: Offer(row.pk, row.references[-1], REFERENCE, marked)
        for row in instances
    }
    return draw_pairs(
        campaign_key=campaign_key,
        material=_material(task, human, instances, {}, {}),
        n=len(instances) if marked else 0,
        seed=seed,
        expected={**marks_if_several(criteria, marked), "or_equal": True},
        edits=_by_key(task, instances, same),
    )


def hidden_line_ups(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    instances: Sequence[Instance],
    pages: Pages,
    *,
    systems: Sequence[Submission],
    campaign_key: str,
    n: int,
    seed: int,
    used: Collection[str] = (),
) -> list[HiddenItem]:
    """Draw questions with one output made wrong beside a good one.

    On a page without a good one, another instance's reference is the wrong one.
    """
    marked = marked_criteria(human, criteria)[NEGATIVE] if n else []
    edits: dict[int, Offer] = {}
    if human.test_questions == EDITED:
        good = _good_on(task, human, marked, systems, instances, pages)
        made = _Edits(
            task,
            human,
            criteria,
            pages,
            campaign_key=campaign_key,
            seed=seed,
            used=used,
        )
        edits, _ = made.beside(instances, n, good)
    place_of = {
        pk: [system for system, _ in pages[pk]].index(offer.made_from["submission"])
        for pk, offer in edits.items()
    }
    return draw_line_ups(
        campaign_key=campaign_key,
        material=_material(task, human, instances, pages, {}),
        n=n if marked else 0,
        seed=seed,
        blind=human.judged_blind(criteria),
        expected=marks_if_several(criteria, marked),
        edits={
            key: (place_of[offer.instance_pk], offer)
            for key, offer in _by_key(task, instances, edits).items()
        },
    )


class _Edits:
    """Edited outputs that look like the page's outputs and were never test questions."""

    def __init__(
        self,
        task: Task,
        human: HumanConfig,
        criteria: Mapping[str, str],
        pages: Pages,
        *,
        campaign_key: str,
        seed: int,
        used: Collection[str],
    ) -> None:
        self.task, self.pages, self.seed = task, pages, seed
        self.harms = harms_of(human, criteria)
        self.taken = Taken(used_texts(task, but=campaign_key) | {*used})

    def beside(
        self, instances: Sequence[Instance], n: int, good: Mapping[int, Sequence[Offer]]
    ) -> tuple[dict[int, Offer], dict[int, Offer]]:
        """Edit an output on up to `n` pages; also return the good one that stays.

        If several are good, systems take turns in staying unedited, so that a script
        cannot predict which one is wrong.
        """
        row_of = {row.pk: row for row in instances if row.pk in good}
        times: Counter[object] = Counter()
        kept, shown = {}, {}
        for pk in row_of:
            kept[pk] = min(good[pk], key=lambda o: times[o.made_from.get("submission")])
            own = kept[pk].made_from.get("submission")
            times[own] += 1
            others = [text for text in self.pages[pk] if text[0] != own]
            rivals = {offer.made_from.get("submission") for offer in good[pk]}
            shown[pk] = [text for text in others if text[0] in rivals] or others
        rows = list(row_of.values())
        edits = edit_outputs(self.task, rows, shown, self.harms, seed=self.seed)
        seen = seen_of(self.task, [], rows)
        real = [
            seen.surface(row_of[pk], text)
            for pk, texts in shown.items()
            for _, text in texts
        ]
        alike = replace(seen, real=real)
        offered = self.taken.usable([*chain.from_iterable(edits)])
        [order] = alike.order_offers([offered], row_of, [n], seed=self.seed)
        found = self.taken.choose([[offer] for offer in chain(*order)], n)
        chosen = {offer.instance_pk: offer for offer in found}
        return chosen, {pk: kept[pk] for pk in chosen}


def _good_on(
    task: Task,
    human: HumanConfig,
    marked: Sequence[str],
    systems: Sequence[Submission],
    instances: Sequence[Instance],
    pages: Pages,
) -> dict[int, list[Offer]]:
    found: dict[int, dict[int, Offer]] = defaultdict(dict)
    for source in Known(task, human, marked, instances).own(systems):
        for pk, offers in source.items():
            on_page = {system for system, _ in pages[pk]}
            for offer in offers:
                if offer.made_from["submission"] in on_page:
                    found[pk].setdefault(offer.made_from["submission"], offer)
    # Pages with several good outputs come first.
    ordered = sorted(found.items(), key=lambda row: -len(row[1]))
    return {pk: list(offers.values()) for pk, offers in ordered}


def _material(
    task: Task,
    human: HumanConfig,
    instances: Sequence[Instance],
    pages: Pages,
    good: Mapping[int, Offer],
) -> list[LineUp]:
    design, view = design_of(task, human), task_view(task, human)
    offered = []
    for instance in instances:
        texts = [text for _, text in pages.get(instance.pk, [(0, "")] * 2)]
        known = good.get(instance.pk)
        offered.append(
            LineUp(
                content_key=content_key(task.slug, instance.instance_id),
                data=design.data(view, show_instance(instance), texts),
                outputs=dict(zip(SLOTS, texts, strict=False)),
                reference=known.text if known else instance.references[-1],
            )
        )
    return offered


def _by_key(
    task: Task, instances: Sequence[Instance], offers: Mapping[int, Offer]
) -> dict[str, Offer]:
    return {
        content_key(task.slug, row.instance_id): offers[row.pk]
        for row in instances
        if row.pk in offers
    }
