"""The evaluation card in the order and with the numbers of HEDS."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings

from crowd.scales.base import Scale, all_scales
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.board_ratings import rank_rule
from leaderboard.evaluation.selectors.system_ratings import system_ratings
from leaderboard.evaluation.selectors.task_policy import requirements
from leaderboard.evaluation.selectors.worker_figures import WorkerFigures
from leaderboard.releases.selectors.card import n_rated
from leaderboard.releases.selectors.of_others import NOT_KNOWN, answers_of_others
from leaderboard.submissions.models import Submission
from leaderboard.tasks.selectors import note_of
from quality.agreement.krippendorff import Level, krippendorff_alpha

if TYPE_CHECKING:
    import pandas as pd

VERSION = "HEDS 3.0"

QUESTIONS = {
    "1.1.1": "Main reference of the evaluation",
    "1.1.2": "Which experiment this sheet is about",
    "1.2": "Resources of the evaluation",
    "1.3.1.1": "Name of the person who completed this sheet",
    "1.3.1.2": "Their affiliation",
    "1.3.1.3": "Their e-mail address",
    "1.3.2.1": "Name of the contact author",
    "1.3.2.2": "Their affiliation",
    "1.3.2.3": "Their e-mail address",
    "2.1": "Input of the systems",
    "2.2": "Output of the systems",
    "2.3": "Task of the systems",
    "2.4": "Languages of the input",
    "2.5": "Languages of the output",
    "3.1.1": "Number of outputs evaluated per system",
    "3.1.2": "How they were selected",
    "3.1.3.1": "Method of the power analysis",
    "3.1.3.2": "Statistical power of the sample",
    "3.1.3.3": "Code of the power analysis",
    "3.2.1": "Number of evaluators",
    "3.2.2.1": "Whether they are domain experts",
    "3.2.2.2": "Whether they were paid",
    "3.2.2.3": "Any evaluators known to the authors",
    "3.2.2.4": "Whether any researchers were among them",
    "3.2.3": "How they were recruited",
    "3.2.4": "Their training and practice",
    "3.2.5": "More about them",
    "3.3.1": "Preregistration",
    "3.3.2": "Medium of the responses",
    "3.3.3.1": "Types of quality assurance",
    "3.3.3.2": "Methods of quality assurance",
    "3.3.4.1": "Location of the form",
    "3.3.4.2": "Interface shown to evaluators",
    "3.3.5": "When and how quickly they worked",
    "3.3.6": "Whether they could ask and comment",
    "3.3.7": "Conditions in which they worked",
    "3.3.8": "How these conditions varied",
    "5.1": "Approval by a research ethics committee",
    "5.2": "Personal data",
    "5.3": "Special category information",
    "5.4": "Impact assessments",
}
# Answered for each criterion.
OF_A_CRITERION = {
    "4.1.1": "Type of quality",
    "4.1.2": "Aspect of the outputs",
    "4.1.3": "Frame of reference",
    "4.2.1": "Objective or subjective",
    "4.2.2": "Absolute or relative",
    "4.2.3": "Intrinsic or extrinsic",
    "4.3.1.1": "Name of the criterion for evaluators",
    "4.3.1.2": "Its standardized name",
    "4.3.2": "Its definition for evaluators",
    "4.3.3": "Size of the scale",
    "4.3.4": "Values of the scale",
    "4.3.5": "How the scale was presented",
    "4.3.6": "Task, if there is no rating instrument",
    "4.3.7": "Question shown to evaluators, verbatim",
    "4.3.8": "Form of response elicitation",
    "4.3.9": "From raw responses to scores",
    "4.3.10": "Effect size and significance",
    "4.3.11.1": "Method of agreement between evaluators",
    "4.3.11.2": "Agreement between evaluators",
    "4.3.12.1": "Method of agreement within evaluators",
    "4.3.12.2": "Agreement within evaluators",
}


# In the form's wording.
_NOT_BETWEEN = "InterAA not assessed"


def agreement(
    ratings: pd.DataFrame, criterion: str, *, ordered: bool
) -> tuple[str, str]:
    """Return how agreement was measured, and its value; none for single ratings."""
    ratings = ratings[ratings["criterion"] == criterion]
    table = ratings.pivot_table(
        index=["submission", "instance"], columns="worker", values="value"
    )
    # labeled options are ordered, without distances; sliders and typed numbers have
    # both
    level: Level = "ordinal" if ordered else "interval"
    alpha = krippendorff_alpha(table.to_numpy(float), level)
    if not alpha.n_items:
        why = f"{_NOT_BETWEEN}: each output has one rating that counts"
        return why, why
    if not math.isfinite(alpha.estimate):
        why = f"{_NOT_BETWEEN}: all ratings are the same"
        return why, why
    return (
        f"Krippendorff's alpha ({level})",
        f"{alpha.estimate:.2f}, 95% interval {alpha.low:.2f} to {alpha.high:.2f}, over "
        f"{alpha.n_items} outputs with more than one rating",
    )


# The database has no answer to these: authors answer.
OPEN = "for the authors"
_KINDS = {
    "question-answering": "question answering",
    "summarization": "summarisation (text-to-text)",
    "translation": "machine translation",
    "abductive-commonsense": "other: abductive commonsense inference",
}
_RECRUITED = {
    "selfhosted": "by invitation to the site that ran the evaluation",
    "mturk": "from a marketplace compatible with Mechanical Turk",
    "prolific": "from Prolific",
    "panel": "from panels, through a link",
}


_UNPAID = {
    "3.2.2.2": "not paid",
    "3.2.3": "by a link from the organizers",
    "3.2.4": "instructions with examples, available on every page",
    "3.3.3.1": "none",
    "3.3.3.2": "none",
    "3.3.5": "whenever they liked",
    "3.3.6": "outside the page",
}


@dataclass(frozen=True)
class Answered:
    number: str
    question: str
    criterion: str
    answer: str

    @property
    def open(self) -> bool:
        return self.answer == OPEN


def heds(
    submission: Submission,
    evaluation: HumanEvaluation,
    figures: WorkerFigures,
    scores: Sequence[Score],
    site: str,
) -> list[Answered]:
    """Answer the sheet question by question; `site` is the beginning of addresses."""
    about = f"{site}/tasks/{submission.task.slug}/about/"
    of_all = {
        "1.1.2": _experiment(submission, evaluation),
        "1.2": f"{site}/submissions/{submission.pk}/",
        "3.3.4.1": f"see the page and its instructions at {about}",
        "3.3.4.2": _shown_parts(submission),
        **_systems(submission),
        **_sample(submission, n_rated(scores)),
        **_evaluators(submission, evaluation, figures),
        **_design(evaluation, figures),
        "5.2": (
            "evaluators are identified only by pseudonyms, and their names are "
            f"not published; whether outputs contain personal data: {OPEN}"
        ),
    }
    imported = submission.task.imported
    of_all |= _UNPAID if submission.task.by_colleagues else {}
    if imported:
        of_all |= answers_of_others(submission.task, figures.n_workers)
    criteria = evaluation.campaign.hit_type.criteria
    answers = [
        Answered(number, question, "", of_all.get(number, OPEN))
        for number, question in QUESTIONS.items()
    ]
    ratings = system_ratings(evaluation)
    for criterion in criteria:
        of_it = {
            **_criterion(evaluation, ratings, scores, criterion),
            "4.3.2": f"in the instructions at {about}",
            **(dict.fromkeys(("4.3.1.1", "4.3.2"), NOT_KNOWN) if imported else {}),
        }
        answers += [
            Answered(number, question, criterion, of_it.get(number, OPEN))
            for number, question in OF_A_CRITERION.items()
        ]
    return sorted(answers, key=lambda answer: answer.number.split(".")[0])


def _systems(submission: Submission) -> dict[str, str]:
    task = submission.task
    shown = ", ".join(task.field_labels.values())
    return {
        "2.1": f"text: {shown}" if shown else "text",
        "2.2": "text",
        "2.3": _KINDS.get(task.kind, f"other: {task.kind}"),
        "2.4": task.source_language,
        "2.5": task.target_language,
    }


def _experiment(submission: Submission, evaluation: HumanEvaluation) -> str:
    criteria = ", ".join(evaluation.campaign.hit_type.criteria)
    if submission.task.imported:
        return note_of(submission.task)
    return (
        f"human evaluation of {submission.system_name} on {submission.task.title} "
        f"({criteria}), started {evaluation.campaign.starts_at:%Y-%m-%d}"
    )


def _shown_parts(submission: Submission) -> str:
    shown = ", ".join(submission.task.field_labels.values())
    beside = f" with {shown}" if shown else ""
    return f"the output{beside}, the questions with their answers, and the instructions"


def _sample(submission: Submission, n: int) -> dict[str, str]:
    n_all = submission.task.n_instances
    how = "by an automatic random process from a larger set"
    return {
        "3.1.1": str(n),
        "3.1.2": (
            "all outputs were evaluated"
            if n >= n_all
            else f"{how}: {n} of {n_all} instances, the same for every system"
        ),
        "3.1.3.1": "N/A: none in advance; see the intervals in 4.3.10",
        "3.1.3.2": "N/A",
        "3.1.3.3": "N/A",
    }


def _evaluators(
    submission: Submission, evaluation: HumanEvaluation, figures: WorkerFigures
) -> dict[str, str]:
    campaign, needs = evaluation.campaign, requirements(submission.task)
    if campaign.simulated:
        # a datasheet's questions about people have no answer for programs
        programs = "simulated annotators (programs, not people)"
        return dict.fromkeys(
            [n for n in QUESTIONS if n.startswith("3.2.")], programs
        ) | {"3.2.1": f"{figures.n_workers}, simulated"}
    recruited = _RECRUITED.get(campaign.platform, campaign.platform)
    return {
        "3.2.1": str(figures.n_workers),
        "3.2.2.2": f"paid (monetary compensation): {_reward(figures)} per assignment",
        "3.2.3": f"{recruited}; required: {'; '.join(needs) or 'no further qualification'}",
        "3.2.4": (
            "instructions with examples, to be read before the first HIT and "
            "available with each"
            + "".join([f"; {one}" for one in needs if one.startswith("has passed")][:1])
        ),
        "3.2.5": "; ".join(needs) or "no details were recorded",
    }


def _design(evaluation: HumanEvaluation, figures: WorkerFigures) -> dict[str, str]:
    hit_type, ban = evaluation.campaign.hit_type, settings.GENIE["BAN_THRESHOLD"]
    minutes = round(hit_type.assignment_seconds / 60)
    return {
        "3.3.2": f"on a web page, one item at a time ({hit_type.template})",
        "3.3.3.1": (
            "automatic quality checking during the evaluation; evaluators are excluded "
            "if they fail quality checks; some evaluations are excluded"
        ),
        "3.3.3.2": (
            f"hidden test questions with known answers ({figures.n_asked} answered, "
            f"{figures.n_wrong} incorrectly); evaluators are excluded whose "
            f"probability of being unreliable is above {ban:g} under a fitted model "
            f"({figures.n_excluded} here), and rejected assignments "
            f"({figures.n_rejected} here)"
        ),
        "3.3.5": (
            f"each HIT within {minutes} minutes; as many HITs as they like, "
            "whenever they like"
        ),
        "3.3.6": "a comment box on each HIT",
        "3.3.7": "online, at a place of their choice",
        "3.3.8": "N/A",
    }


def _criterion(
    evaluation: HumanEvaluation,
    ratings: pd.DataFrame,
    scores: Sequence[Score],
    criterion: str,
) -> dict[str, str]:
    hit_type = evaluation.campaign.hit_type
    scale = all_scales().get(hit_type.scale)
    design = all_designs().get(evaluation.design)
    relative = design is not None and design.in_slots()
    method, found = agreement(ratings, criterion, ordered=bool(scale and scale.options))
    answers = {
        "4.2.1": "subjective",
        "4.2.2": "relative" if relative else "absolute",
        "4.2.3": "intrinsic",
        "4.3.1.1": "no name given: evaluators only read the question",
        "4.3.6": "N/A",
        "4.3.7": hit_type.criteria[criterion],
        "4.3.9": (
            "ratings on bounded scales are mapped to 0-100 and averaged within "
            "instances, then over instances, without excluded evaluators"
        ),
        "4.3.10": _significance(evaluation, scores, criterion),
        "4.3.11.1": method,
        "4.3.11.2": found,
        "4.3.12.1": "IntraAA not assessed",
        "4.3.12.2": "IntraAA not assessed",
    }
    if scale is not None:
        answers |= _scale(scale, relative=relative)
    if design is not None and design.marks_errors:
        answers["4.3.8"] += "; evaluation through annotation (marked errors)"
    return answers


def _scale(scale: type[Scale], *, relative: bool) -> dict[str, str]:
    options = scale.options
    values = ", ".join(option.label for option in options)
    agrees = any("agree" in option.label.lower() for option in options)
    form = "(dis)agreement with quality statement" if agrees else ""
    compared = "relative quality estimation" if relative or scale.compares else ""
    return {
        "4.3.3": str(len(options)) if options else "continuous",
        "4.3.4": values or f"{scale.minimum:g} to {scale.maximum:g}",
        "4.3.5": (
            "multiple-choice options"
            if options
            else "slider"
            if scale.slider
            else "other: numeric input"
        ),
        "4.3.8": compared or form or "direct quality estimation",
    }


def _reward(figures: WorkerFigures) -> str:
    least = f"${figures.reward_cents / 100:.2f}"
    if figures.highest_reward_cents == figures.reward_cents:
        return least
    return f"{least} to ${figures.highest_reward_cents / 100:.2f}"


def _significance(
    evaluation: HumanEvaluation, scores: Sequence[Score], criterion: str
) -> str:
    score = next((one for one in scores if one.criterion == criterion), None)
    if score is None:
        return "none"
    n = settings.GENIE["BOOTSTRAP_RESAMPLES"]
    return (
        f"mean {score.mean:.1f}, 95% percentile bootstrap interval {score.low:.1f} to "
        f"{score.high:.1f} ({n:,} resamples), which covers {score.covers}"
        f"{'; provisional' if score.provisional else ''}. "
        f"{rank_rule(evaluation.task)}"
    )
