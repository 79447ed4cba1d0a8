"""Comparisons and joint evaluations in a report: tables, marks of a figure, sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.selectors.certainty import Agreement
from leaderboard.charts import format_score
from leaderboard.designs.base import Unit
from leaderboard.evaluation.evidence import agreement
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
)
from leaderboard.evaluation.selectors.board_ratings import population_of
from leaderboard.evaluation.selectors.comparison_labels import rule_of
from leaderboard.evaluation.selectors.comparisons import standing_of
from leaderboard.evaluation.selectors.joint import criterion_results
from leaderboard.evaluation.selectors.system_ratings import (
    campaigns_of,
    ratings_per_output,
    system_ratings_of,
)
from leaderboard.evaluation.services.joint import criteria_of
from leaderboard.releases.gathering import comparisons as gathered
from leaderboard.releases.gathering.joint import scored_evaluations
from leaderboard.stats.ranking import RANK_RULE, UNCONNECTED
from leaderboard.table_stats.report import Mark, Sheet, ranks_in_words, some
from leaderboard.tasks.models import Task

_PAIRS = (
    *("system a", "system b", "a won", "ties", "b won"),
    *("a preferred", "better", "labels"),
)
_SYSTEMS = ("cluster", "system", "score", "ranks")
_RULE = RANK_RULE.replace(UNCONNECTED, "")


@dataclass(frozen=True)
class SideBySide:
    """The evaluations with their tables; `asked` ends the sentence on who did it."""

    rows: Sequence[HumanEvaluation]
    sheets: list[Sheet]
    marks: list[Mark]
    asked: list[str]
    findings: list[str]


def side_by_side(task: Task) -> SideBySide | None:
    if compared := gathered.ended_comparisons(task):
        return _comparison_results(task, compared)
    together = scored_evaluations(task)
    return _joint_results(task, together) if together else None


def _comparison_results(task: Task, rows: list[Comparison]) -> SideBySide:
    sheets: list[Sheet] = []
    marks, covers = [], set[str]()
    for criterion in dict.fromkeys(one.criterion for one in rows):
        lines = []
        for one in (one for one in rows if one.criterion == criterion):
            a, b = one.a.system_name, one.b.system_name
            read = [pair["label"] for pair in gathered.pairs([one]) if pair["used"]]
            found = standing_of(one).answers
            covers |= {found.covers} if found else set()
            if found and not sheets:
                ends = (100 * found.low, 100 * found.high)
                marks.append(Mark(f"{a} vs. {b}", 100 * found.estimate, outer=ends))
            better = {"A": a, "B": b}.get(one.better, one.get_state_display().lower())
            n = [str(read.count(label)) for label in (1.0, 0.5, 0.0)]
            share = f"{found:.1%}" if found else "--"
            lines.append((a, b, *n, share, better, str(one.n_labels)))
        notes = (
            "Wins and ties are labels that the rule read.",
            "Shares are of the answers in these labels, with ties as one half; their 95% "
            f"intervals cover {'; or '.join(sorted(covers))}.",
        )
        title = f"{task.title}, {criterion}: systems in pairs"
        sheets.append(Sheet(title, _PAIRS, tuple(lines), notes))
    ways = {
        one.get_strategy_display().replace("several", str(one.n_workers))
        for one in rows
    }
    asked = (
        f"chose between the outputs of two systems for the same instance of {task.title}"
        f", shown on random sides: {some(sum(one.pairs.count() for one in rows), 'pair')} "
        f"of outputs in {some(len(rows), 'comparison')}, {' or '.join(sorted(ways))}"
    )
    return SideBySide(
        rows,
        sheets,
        marks,
        [asked],
        [
            *_decisions(rows),
            *_agreement(rows),
            *sheets[-1].notes[1:],
            population_of(task),
        ],
    )


def _decisions(rows: Sequence[Comparison]) -> list[str]:
    kinds = {
        (one.within.delta if one.within else one.delta, one.delta, rule_of(one))
        for one in rows
    }
    return [
        f"The rule {rule.name} read labels in random order until it decided or had "
        f"read all pairs; the probability of a wrong decision is at most {delta:.4g}"
        + (f", {each:.4g} for each of several pairs (Bonferroni)" * (each < delta))
        + f", if {'workers' if rule.over_workers else 'labels'} are independent"
        + ("" if rule.anytime_valid else " and were read only once")
        for delta, each, rule in sorted(kinds, key=str)
    ]


def _agreement(rows: Sequence[Comparison]) -> list[str]:
    answers, a = (
        system_ratings_of([one.pk for one in rows]),
        {one.pk: one.a_id for one in rows},
    )
    # each answer is stored for both systems
    of_a = answers[answers["submission"] == answers["evaluation"].map(a)]
    by_pair = of_a.assign(submission=of_a["evaluation"])
    return [
        alpha_sentence(criterion, Agreement(**found))
        for criterion in dict.fromkeys(one.criterion for one in rows)
        if (found := agreement(by_pair[by_pair["criterion"] == criterion], Unit(0, 1)))
    ]


def alpha_sentence(criterion: str, found: Agreement) -> str:
    if found.low is None or found.high is None:
        return ""
    return (
        f"Raters agreed on {criterion} with a Krippendorff’s alpha of {found.alpha:.2f} "
        f"(95% interval {found.low:.2f} to {found.high:.2f}, {found.level})"
    )


def _joint_results(task: Task, rows: list[JointEvaluation]) -> SideBySide:
    sheets, asked, findings = [], [], []
    marks: list[Mark] = []
    for one in rows:
        n = ratings_per_output(campaigns_of(one), one.n_workers)
        systems = some(len(one.systems.all()), "system")
        page = f", {one.per_page} of them on a page" if one.per_page else ""
        asked.append(
            f"rated the outputs of {systems} side by side{page}, for the same "
            f"{some(one.n_instances, 'instance')} of {task.title}, {n} "
            f"rater{'' if n == 1 else 's'} per instance, by {one.design}"
        )
        for result in criterion_results(one, criteria_of(task)):
            about, found = result.about, result.rows
            lines = [
                (
                    str(row.cluster),
                    row.submission.system_name,
                    format_score(row),
                    ranks_in_words(row.rank_first, row.rank_last),
                )
                for row in found
            ]
            rules = {
                i
                for i in range(1, len(found))
                if found[i].cluster != found[i - 1].cluster
            }
            notes = [
                f"Scores of {result.criterion} have 95% intervals, which cover {about['covers']}.",
                *[f"They are {about['normalised']}."] * bool(about["normalised"]),
            ]
            title = f"{task.title}, {result.criterion}: systems side by side"
            sheets.append(
                Sheet(title, _SYSTEMS, tuple(lines), (*notes, _RULE), frozenset(rules))
            )
            findings += notes
            if (shared := about["agreement"])["low"] is not None:
                findings.append(
                    f"Agreement of raters on {result.criterion}, {shared['form']}: "
                    f"{shared['value']:.2f} (95% interval {shared['low']:.2f} to "
                    f"{shared['high']:.2f})"
                )
            marks = marks or [
                Mark(
                    line[1],
                    row.mean,
                    outer=(row.low, row.high),
                    rule=place in rules,
                )
                for place, (line, row) in enumerate(zip(lines, found, strict=True))
            ]
    findings += [_RULE, population_of(task)]
    return SideBySide(rows, sheets, marks, asked, findings)
