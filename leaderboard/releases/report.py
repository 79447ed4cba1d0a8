"""A task's results for a paper: table, methods, figure, costs, data."""

import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from crowd.hits.models import Assignment, Campaign
from genie.lib.formats import csv_text
from leaderboard.boards.exports.board import WRITERS, as_bibtex
from leaderboard.boards.exports.markdown import plain, with_notes
from leaderboard.boards.exports.table import BoardTable
from leaderboard.boards.selectors.judged import agreement_of
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.board_ratings import population_of, rank_rule
from leaderboard.evaluation.selectors.ranked_scores import sample_is_public
from leaderboard.evaluation.selectors.system_ratings import (
    campaigns_of,
    launched_evaluations,
    ratings_per_output,
    system_ratings_of,
)
from leaderboard.evaluation.selectors.worker_figures import (
    WorkerFigures,
    paid_and_fee,
    worker_figures,
)
from leaderboard.metric_board.selectors.downloads import battles, judgments
from leaderboard.releases import exports
from leaderboard.releases.ethics import ethics_sheet
from leaderboard.releases.make import make
from leaderboard.releases.selectors import judges
from leaderboard.releases.selectors.card import card
from leaderboard.releases.selectors.heds import heds
from leaderboard.releases.side_by_side import SideBySide, alpha_sentence, side_by_side
from leaderboard.stats.ranking import UNCONNECTED
from leaderboard.table_stats.report import Mark, as_latex, interval_plot, some
from leaderboard.tasks.config.differences import COMPARISON
from leaderboard.tasks.models import Task
from quality.detection.selectors import LIMIT, TOO_SMALL
from quality.detection.stats.assess import can_tell

_ETHICS = (
    "- `ethics.md`: information for an ethics board (consent, pay, participation and "
    "withdrawal)"
)
_CARDS = (
    "- `cards`: an evaluation card with the answers of the Human Evaluation Datasheet for "
    "each system"
)
_ENDS = "of several named answers, the best is 1 and the worst 0"
SIMPLE = "dot: score or share (%); line: 95% interval"
LEGEND = (
    "dot: score; thin line: 95% interval; thick line: comparison interval "
    "(without overlap: significantly different)"
)


@dataclass(frozen=True)
class Cost:
    """The cost of rating one system in cents; simulated workers were not paid."""

    system: str
    simulated: bool
    paid_cents: int
    fee_cents: int


@dataclass(frozen=True)
class Report:
    table: BoardTable
    campaigns: tuple[Campaign, ...]
    methods: str
    figure: str
    costs: tuple[Cost, ...]
    together: SideBySide | None

    @property
    def tables(self) -> dict[str, str]:
        """Return the texts of the tables by the ends of their files' names."""
        if self.together is None:
            return {form: write(self.table) for form, (_, write) in WRITERS.items()}
        sheets = self.together.sheets
        return {
            "tex": as_latex(sheets),
            "md": "\n".join(
                with_notes(one.header, one.rows, map(plain, (one.title, *one.notes)))
                for one in sheets
            ),
            "bib": as_bibtex(self.table),
        }

    @property
    def ethics(self) -> str:
        return ethics_sheet(
            self.table.task.title,
            self.methods,
            list(self.campaigns),
            worker_figures(self.campaigns),
            simulated=self.simulated,
        )

    @property
    def simulated(self) -> bool:
        return any(cost.simulated for cost in self.costs)


def report(table: BoardTable) -> Report:
    by_system = {
        evaluation.submission.pk: campaigns_of(evaluation)
        for evaluation in launched_evaluations(_scored_submissions(table))
    }
    asked = [
        (row.system, row.simulated, by_system[row.pk])
        for row in table.rows
        if row.pk in by_system
    ]
    together = None if asked else side_by_side(table.task)
    if together:
        asked = [(str(one), one.simulated, campaigns_of(one)) for one in together.rows]
    every = [campaign for _, _, group in asked for campaign in group]
    return Report(
        table=table,
        campaigns=tuple(every),
        methods=methods(table, every, together) if every else "",
        figure=_figure(table, together),
        costs=tuple(
            Cost(name, simulated, *paid_and_fee(group))
            for name, simulated, group in asked
        ),
        together=together,
    )


def methods(
    table: BoardTable, campaigns: list[Campaign], together: SideBySide | None
) -> str:
    task, figures = table.task, worker_figures(campaigns)
    if table.note:
        return f"{table.note} {population_of(task)}"
    rows = together.rows if together else [row for row in table.rows if row.human]
    simulated = any(row.simulated for row in rows)
    kind, how = ("simulated annotator", " (programs)") if simulated else ("worker", "")
    if task.by_colleagues:
        kind, how = "unpaid rater", ", invited by a link,"
    asked = together.asked if together else [_protocol(table, campaigns)]
    questions = {k: v for one in campaigns for k, v in one.hit_type.criteria.items()}
    sentences = [
        f"{some(figures.n_workers, kind)}{how} {'; '.join(asked)} ({campaigns[0].hit_type.scale})",
        *(
            f"They answered questions about {name}: “{question.rstrip('.')}”"
            for name, question in questions.items()
        ),
        *_rewordings(task, campaigns),
        _pay(figures, simulated) if figures.highest_reward_cents else "",
        f"Test questions were hidden among the items; {figures.n_wrong:,} of "
        f"{figures.n_asked:,} answers to them were wrong. "
        f"{some(figures.n_excluded, 'worker')} "
        f"{'was' if figures.n_excluded == 1 else 'were'} excluded, and "
        f"{some(figures.n_replaced, 'assignment')} asked for again"
        if figures.n_asked
        else f"Raters excluded: {figures.n_excluded or 'none'}",
        *(_limits(figures) if figures.n_asked else ()),
        *(together.findings if together else _findings(table)),
    ]
    return " ".join(f"{text.rstrip('.')}." for text in sentences if text)


def _limits(figures: WorkerFigures) -> list[str]:
    n = max(figures.n_workers, 1)
    n_tests = figures.n_asked / n
    told = can_tell(n, n_tests, figures.n_assignments / n - n_tests)
    return [LIMIT] if told else [LIMIT, TOO_SMALL]


def _protocol(table: BoardTable, campaigns: list[Campaign]) -> str:
    task, human = table.task, table.task.human
    rated = [row.human for row in table.rows if row.human]
    n_instances = max((score.of for score in rated), default=0)
    drawn = "randomly chosen " if n_instances < task.n_instances else ""
    planned = ratings_per_output(campaigns, human.ratings_per_instance)
    # Tests take the place of some outputs, and some outputs are rated once more.
    rows = HumanEvaluation.objects.filter(campaigns__campaign__in=campaigns).distinct()
    counted = system_ratings_of([*rows.values_list("pk", flat=True)])
    inputs = counted.groupby("submission")["instance"].agg(set)
    n_shared = len(set.intersection(*inputs)) if len(inputs) else n_instances
    same = n_shared >= n_instances
    each = counted.groupby(["submission", "instance"])["worker"].nunique()
    n_more = int((each > max(c.answers_per_hit or 0 for c in campaigns)).sum())
    more = some(n_more, "output")
    return (
        f"rated the outputs of {some(len(rated), 'system')} for {'the same ' * same}"
        f"{some(n_instances, f'{drawn}instance')}{' each' * (not same)} of {task.title}"
        f"{f' ({n_shared:,} the same for all)' * (not same)}, {planned} "
        f"rating{'' if planned == 1 else 's'} per output"
        f"{f' and one more of {more}' * (n_more > 0)}"
        f", by {human.design}"
    )


def _findings(table: BoardTable) -> list[str]:
    task, rated = table.task, [row.human for row in table.rows if row.human]
    covers = next((score.covers for score in rated), "")
    return [
        *(alpha_sentence(name, found) for name, found in agreement_of(task).items()),
        f"Scores have 95% intervals, which cover {covers}" if covers else "",
        rank_rule(task).replace(UNCONNECTED * task.by_colleagues, "")
        if len(rated) > 1
        else population_of(task),
        *judges.sentences(judges.judged_by(task)),
    ]


def _rewordings(task: Task, campaigns: list[Campaign]) -> list[str]:
    answers = Assignment.objects.filter(hit__campaign__in=campaigns)
    return [
        f"After {some(n, 'answer')}, on {revision.created_at:%Y-%m-%d}, the wording "
        f"“{old}” was changed to “{new}”"
        for revision in task.revisions.order_by("number")
        if (n := answers.filter(submitted_at__lt=revision.created_at).count())
        for key, change in revision.changes.items()
        if key.rpartition(".")[2] in {"criteria", "fields", "instructions"}
        for old, new in zip(
            *[
                texts.values() if isinstance(texts, dict) else [texts]
                for texts in change
            ],
            strict=False,
        )
        if old != new
    ]


def archive(made: Report, site: str) -> IO[bytes]:
    """Pack the report with the cards and a release; closing the file deletes it."""
    task = made.table.task
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(made, folder)
        _write_cards(made, folder / "cards", site)
        if not task.by_colleagues:
            make(task, folder / "data")
        file = tempfile.TemporaryFile()  # noqa: SIM115  # the reader closes it
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    packed.write(path, f"{task.slug}/{path.relative_to(folder)}")
    file.seek(0)
    return file


def _write(made: Report, folder: Path) -> None:
    for form, text in made.tables.items():
        (folder / f"table.{form}").write_text(text, "utf-8")
    (folder / "methods.txt").write_text(f"{made.methods}\n", "utf-8")
    (folder / "figure.svg").write_text(made.figure, "utf-8")
    rows = [
        {
            "system": cost.system,
            "simulated": "yes" if cost.simulated else "no",
            "paid_to_workers_usd": _usd(0 if cost.simulated else cost.paid_cents),
            "platform_fees_usd": _usd(0 if cost.simulated else cost.fee_cents),
            "booked_in_simulation_usd": _usd(
                cost.simulated * (cost.paid_cents + cost.fee_cents)
            ),
        }
        for cost in made.costs
    ]
    columns = [
        "system",
        "simulated",
        "paid_to_workers_usd",
        "platform_fees_usd",
        "booked_in_simulation_usd",
    ]
    (folder / "README.md").write_text(_readme(made), "utf-8")
    (folder / "judgments.csv").write_text(_ratings(made), "utf-8")
    if made.table.task.imported:
        return  # no person was paid here, and no ethics board of ours was asked
    if not made.table.task.by_colleagues:
        (folder / "costs.csv").write_text(csv_text(columns, rows), "utf-8")
    (folder / "ethics.md").write_text(made.ethics, "utf-8")


def _ratings(made: Report) -> str:
    import pandas as pd

    task, rows = made.table.task, made.together.rows if made.together else ()
    names = {"system": "system", "instance": "item", "worker": "rater"}
    found: Iterable[dict[str, Any]] = judgments(task, [one.pk for one in rows])
    if chosen := list(battles(task)) if rows else []:
        names = {"a": "system a", "b": "system b", "question_id": "item", "judge": "rater"}  # fmt: skip
        found = [
            {**row, "a": a, "b": b, "value": row.get(row["winner"], "tie")}
            for row in chosen
            for a, b in [sorted((row["model_a"], row["model_b"]))]
        ]
    wide = (
        pd.DataFrame(found, columns=[*names, "criterion", "value"])
        .rename(columns=names)
        .pivot_table("value", [*names.values()], "criterion", aggfunc="last")
    )
    records: Any = wide.reset_index().to_dict("records")
    return csv_text([*names.values(), *task.asked.criteria], records)


def _write_cards(made: Report, folder: Path, site: str) -> None:
    folder.mkdir()
    teams = {
        row.pk: row.team.name if row.team else "anonymous" for row in made.table.rows
    }
    for evaluation in launched_evaluations(_scored_submissions(made.table)):
        submission = evaluation.submission
        figures = worker_figures(campaigns_of(evaluation))
        scores = list(evaluation.current_scores.order_by("pk"))
        text = exports.as_markdown(
            card(
                submission,
                evaluation,
                figures,
                scores,
                team=teams[submission.pk],
                seed_is_public=sample_is_public(submission.task),
            ),
            heds(submission, evaluation, figures, scores, site),
            made.table.page.format(submission.pk),
        )
        (folder / f"submission-{submission.pk}.md").write_text(text, "utf-8")


def _readme(made: Report) -> str:
    imported, free = made.table.task.imported, made.table.task.by_colleagues
    return "\n".join(
        [
            f"# {made.table.task.title}: report",
            "",
            made.methods,
            "",
            made.tables["md"],
            f"- `table.*`: the results as {', '.join(made.tables)}",
            "- `methods.txt`, `figure.svg`"
            + ("" if imported or free else ", `costs.csv`"),
            "- `judgments.csv`: every rating, with a column for each question"
            + ("" if made.table.task.table == COMPARISON else f"; {_ENDS}"),
            *([] if made.together else [_CARDS]),
            *([] if imported else [_ETHICS.replace(" pay,", "") if free else _ETHICS]),
            ""
            if free
            else (
                "- `data`: every rating under pseudonyms; `genie rebuild data` "
                "recomputes the scores"
            ),
            "",
        ]
    )


def _figure(table: BoardTable, together: SideBySide | None) -> str:
    if together:
        title = next(iter(table.task.asked.criteria), "")
        return interval_plot(title, together.marks, SIMPLE)
    rows = [(row, row.human) for row in table.rows if row.human]
    marks = [
        Mark(
            row.system,
            score.mean,
            score.inner,
            (score.low, score.high),
            rule=row.cluster != rows[max(n - 1, 0)][0].cluster,
        )
        for n, (row, score) in enumerate(rows)
    ]
    return interval_plot(table.criteria[0], marks, LEGEND) if marks else ""


def _scored_submissions(table: BoardTable) -> list[int]:
    return [row.pk for row in table.rows if row.human]


def _pay(figures: WorkerFigures, simulated: bool) -> str:
    text = f"An assignment paid ${figures.reward_cents / 100:.2f}"
    if figures.highest_reward_cents > figures.reward_cents:
        text += f" to ${figures.highest_reward_cents / 100:.2f}"
    if figures.hourly_cents and not figures.faster_than_reading:
        text += f" (${figures.hourly_cents / 100:.2f} an hour at the median pace)"
    if simulated:
        return f"{text} in the simulation, and they were not paid"
    return f"{text}, and workers were paid ${figures.paid_cents / 100:,.2f} in all"


def _usd(cents: int) -> str:
    return f"{cents / 100:.2f}"
