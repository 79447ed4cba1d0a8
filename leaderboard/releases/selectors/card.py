"""The evaluation card: facts for a paper's methods section, from the database.

Sections and keys are those of papers' appendices: `exports` write them as
JSON, Markdown and LaTeX, and `heds.py` answers the Human Evaluation Datasheet from the
same rows.
"""

from collections.abc import Sequence
from typing import Any

from django.conf import settings

from crowd import hit_templates
from crowd.scales.base import all_scales
from leaderboard.boards.selectors.columns import field_of, main_criterion
from leaderboard.boards.selectors.evidence import metric_lines
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.board_ratings import rank_rule
from leaderboard.evaluation.selectors.ranked_scores import (
    partial_of_score,
)
from leaderboard.evaluation.selectors.system_ratings import (
    campaigns_of,
    ratings_per_output,
)
from leaderboard.evaluation.selectors.worker_figures import WorkerFigures
from leaderboard.releases.selectors import judges
from leaderboard.releases.selectors.of_others import lines_of_others
from leaderboard.submissions.models import Submission
from quality.detection.models import DetectorFit

# The names in a study without pay; empty: left out.
_UNPAID = {
    "HIT template": "page",
    "assignments": "answers",
    "most assignments by one worker": "most answers by one worker",
    "median active seconds per assignment": "median active seconds per answer",
    "assignments by language": "answers by language",
    "assignments reassigned": "",
    "assignments rejected": "",
}
Section = list[tuple[str, Any]]
Card = dict[str, Section]


def card(
    submission: Submission,
    evaluation: HumanEvaluation,
    figures: WorkerFigures,
    scores: Sequence[Score],
    *,
    team: str,
    seed_is_public: bool,
) -> Card:
    lines = {
        "System and data": _system(submission, team),
        "Outputs rated": _outputs(
            submission, evaluation, n_rated(scores), seed_is_public
        ),
        "Human evaluation design": _questions(submission, evaluation),
        "Workers and pay": _workers(submission, evaluation, figures),
        "Quality control": _control(submission, figures),
        "Results": _results(submission, evaluation, scores),
        "Automatic metrics": [
            (line.words.label, {"value": line.value, "signature": line.signature})
            for line in metric_lines(submission)
        ],
        judges.TITLE: judges.section_of(submission),
    }
    task = submission.task
    if task.by_colleagues:
        return {
            title.removesuffix(" and pay"): [
                (_UNPAID.get(name, name), value)
                for name, value in section
                if not name.endswith("US dollars") and _UNPAID.get(name, name)
            ]
            for title, section in lines.items()
        }
    return lines_of_others(lines, task) if task.imported else lines


def _system(submission: Submission, team: str) -> Section:
    task = submission.task
    return [
        ("system", submission.system_name),
        ("team", team),
        ("simulated", submission.simulated),
        ("task", task.title),
        ("type of task", task.kind),
        ("languages", f"{task.source_language} to {task.target_language}"),
        ("license of the data", task.licence),
        ("release of the data (SHA-256)", task.release_sha256),
        ("predictions (SHA-256)", submission.file_sha256),
        ("submitted on", f"{submission.created_at:%Y-%m-%d}"),
        ("code version", settings.VERSION),
    ]


def n_rated(scores: Sequence[Score]) -> int:
    return max((score.n for score in scores), default=0)


def _outputs(
    submission: Submission, evaluation: HumanEvaluation, n: int, seed_is_public: bool
) -> Section:
    task = submission.task
    return [
        ("instances in the test set", task.n_instances),
        ("instances in the sample", evaluation.n_instances),
        ("rated instances", n),
        ("sampling", "drawn at random once for the task"),
        (
            # as text: JSON readers with doubles only would round a 63-bit number
            "sampling seed",
            str(task.sample_seed)
            if seed_is_public
            # it would reveal to workers which of their questions are tests
            else "disclosed once human evaluation has ended",
        ),
        (
            "ratings per output",
            ratings_per_output(
                campaigns_of(evaluation), task.human.ratings_per_instance
            ),
        ),
    ]


def _questions(submission: Submission, evaluation: HumanEvaluation) -> Section:
    hit_type = evaluation.campaign.hit_type
    scale = all_scales().get(hit_type.scale)
    template = hit_templates.all_templates().get(hit_type.template)
    options = [option.label for option in scale.options] if scale else []
    return [
        ("design", evaluation.design),
        ("scale", hit_type.scale),
        ("answer options", options or "a number"),
        ("questions, verbatim", dict(hit_type.criteria)),
        ("shown with the output", list(submission.task.field_labels.values())),
        ("HIT template", template.title if template else hit_type.template),
        ("blinding", "the system that produced an output was hidden from workers"),
    ]


def _workers(
    submission: Submission, evaluation: HumanEvaluation, figures: WorkerFigures
) -> Section:
    campaign = evaluation.campaign
    return [
        ("platform", campaign.platform),
        ("workers", figures.n_workers),
        *(
            [
                ("languages of the questions", list(figures.languages)),
                (
                    "assignments by language",
                    dict(figures.by_language)
                    or "not shown, because few workers read one of them",
                ),
            ]
            if len(figures.languages) > 1
            else []
        ),
        ("assignments", figures.n_assignments),
        ("most assignments by one worker", figures.most),
        ("reward per assignment, US dollars", figures.reward_cents / 100),
        *(
            [("highest reward after changes, US dollars", highest / 100)]
            if (highest := figures.highest_reward_cents) != figures.reward_cents
            else []
        ),
        ("median active seconds per assignment", figures.median_seconds),
        (
            "hourly pay at that pace, US dollars",
            None
            if figures.hourly_cents is None or figures.faster_than_reading
            else figures.hourly_cents / 100,
        ),
        # pay is meaningless at a pace at which the texts cannot have been read
        *(
            [("median pace", "faster than the texts can be read")]
            if figures.faster_than_reading
            else []
        ),
        (
            "simulated pay (raters were not paid), US dollars"
            if submission.simulated
            else "paid to workers, US dollars",
            figures.paid_cents / 100,
        ),
        ("platform fees, US dollars", figures.fee_cents / 100),
        ("started", f"{campaign.starts_at:%Y-%m-%d}"),
        (
            "finished",
            f"{campaign.completed_at:%Y-%m-%d}" if campaign.completed_at else None,
        ),
    ]


def _control(submission: Submission, figures: WorkerFigures) -> Section:
    human = submission.task.human
    fit = (
        # the newest fit is the one whose verdicts decide today which answers count
        DetectorFit.objects.filter(pool=submission.task.slug)
        .order_by("-pk")
        .values("detector", "seed")
        .first()
    )
    return [
        ("share of positive test questions", human.positive_share),
        ("share of negative test questions", human.negative_share),
        ("test questions answered", figures.n_asked),
        ("answered incorrectly", figures.n_wrong),
        ("detector of unreliable workers", fit["detector"] if fit else None),
        (
            "exclusion threshold (probability of being unreliable)",
            settings.GENIE["BAN_THRESHOLD"],
        ),
        ("excluded workers", figures.n_excluded),
        ("assignments reassigned", figures.n_replaced),
        ("assignments rejected", figures.n_rejected),
    ]


def _results(
    submission: Submission, evaluation: HumanEvaluation, scores: Sequence[Score]
) -> Section:
    task = submission.task
    lines: Section = [
        (
            score.criterion,
            {
                "mean": score.mean,
                "low": score.low,
                "high": score.high,
                "confidence": 0.95,
                "covers": score.covers,
                "n_instances": score.n,
                "of": evaluation.n_instances,
                "n_workers": score.n_workers,
                "resamples": settings.GENIE["BOOTSTRAP_RESAMPLES"],
                "seed": str(score.seed),
                "signature": score.signature,
                "provisional": score.provisional,
            },
        )
        for score in scores
    ]
    place = field_of(task, frozenset()).place_of(submission.pk)
    if place is None or not place.scored:
        return lines
    main = next(one for one in scores if one.criterion == main_criterion(task))
    if partial := partial_of_score(main):
        unranked = "" if place.ranks else ", therefore not ranked"
        lines.append((f"partial{unranked}", str(partial)))
    if place.ranks:
        lines += [
            ("range of ranks", [*place.ranks]),
            ("ranking rule", rank_rule(task)),
        ]
    return lines
