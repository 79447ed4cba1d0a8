"""The test questions of a task as they would be asked now; none is stored."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from crowd.hits.services.build import HITTypeSpec
from genie.lib.unguessable import seed_for
from leaderboard.evaluation.services.hidden.drawn import plan_test_questions
from leaderboard.evaluation.services.hidden.offers import (
    CLOSE_TO,
    CONFIRMED,
    EDIT,
    REFERENCE,
    SHUFFLED,
    SWAPPED,
)
from leaderboard.submissions.models import Submission
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import (
    campaign_keys,
    commitment_key,
    hit_type_of,
)
from quality.test_questions.edits.edit import KINDS
from quality.test_questions.selectors import right_on_each, shown_fields
from quality.test_questions.services import HiddenItem, Planned

_WORDS = {
    "": "the reference beside a wrong text",
    REFERENCE: "a reference",
    CLOSE_TO: "an output of a good system that says nearly what a reference says",
    CONFIRMED: "an output that staff confirmed as good",
    SWAPPED: "another instance’s reference",
    SHUFFLED: "a text with its words shuffled",
}


@dataclass(frozen=True)
class Preview:
    """A test question for staff.

    `shown` has labels and texts of the page, `edit` the change, `right` the marked
    criteria and their right answers.
    """

    kind: str
    shown: list[tuple[str, str]]
    edit: str
    right: list[tuple[str, str]]


@dataclass(frozen=True)
class Part:
    criteria: Mapping[str, str]
    questions: list[Preview]
    notes: list[str]
    n_wanted: int


def previews(task: Task, submission: Submission | None) -> Iterator[Part]:
    human = task.human
    key = commitment_key(submission.pk) if submission else f"preview:{task.slug}"
    for criteria, name in zip(human.separate(), campaign_keys(key, human), strict=True):
        drawn = plan_test_questions(
            task,
            human,
            criteria,
            submission,
            seed_for("campaign", name),
            campaign_key=name,
            n_items=task.sample_size,
        )
        yield part_of(task, human, criteria, drawn)


def latest(task: Task) -> Submission | None:
    return task.submissions.exclude(predictions=None).order_by("-pk").first()


def part_of(
    task: Task, human: HumanConfig, criteria: Mapping[str, str], drawn: Planned
) -> Part:
    hit_type = hit_type_of(task, human, criteria)
    questions = [_preview(hit_type, criteria, item) for item in drawn.items]
    # Questions of a kind are grouped.
    questions.sort(key=lambda question: question.kind)
    return Part(criteria, questions, drawn.notes, drawn.n_wanted)


def _preview(
    hit_type: HITTypeSpec, criteria: Mapping[str, str], item: HiddenItem
) -> Preview:
    marked = item.expected.get("criteria") or list(criteria)
    right = right_on_each(item.polarity, item.expected, hit_type)
    return Preview(
        kind=kind_in_words(item.kind),
        shown=shown_fields(item.spec.data),
        edit=str(item.made_from.get("edit", {}).get("sentence", "")),
        right=[(name, right) for name in marked],
    )


def kind_in_words(kind: str) -> str:
    if kind.startswith(EDIT):
        return f"an output with {KINDS[kind.removeprefix(EDIT)].label}"
    return _WORDS[kind]
