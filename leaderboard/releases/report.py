"""A task's results for a paper: table, methods, figure, costs, data."""

import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from crowd.hits.models import Assignment, Campaign
from genie.lib.formats import csv_text
from leaderboard.boards.exports.board import WRITERS
from leaderboard.boards.exports.markdown import as_markdown
from leaderboard.boards.exports.table import BoardTable
from leaderboard.boards.selectors.judged import agreement_of
from leaderboard.evaluation.selectors.board_ratings import population_of, rank_rule
from leaderboard.evaluation.selectors.system_ratings import (
    campaigns_of,
    launched,
    ratings_per_output,
)
from leaderboard.evaluation.selectors.worker_figures import (
    WorkerFigures,
    paid_and_fee,
    worker_figures,
)
from leaderboard.metric_board.selectors.downloads import judgments
from leaderboard.releases import exports
from leaderboard.releases.ethics import ethics_sheet
from leaderboard.releases.make import make
from leaderboard.releases.selectors import judges
from leaderboard.releases.selectors.card import card
from leaderboard.releases.selectors.heds import heds
from leaderboard.table_stats.report import Mark, interval_plot
from leaderboard.tasks.models import Task

_ETHICS = (
    "- `ethics.md`: what an ethics board asks: consent, pay, who took part and left"
)
LEGEND = (
    "dot: score; thin line: 95 % interval; thick line: comparison interval "
    "(without overlap: significantly different)"
)


@dataclass(frozen=True)
class Cost:
    """The cost of rating one system in cents; simulated workers were not paid."""

    system: str
    simulated: bool
    paid_cents: int
    fee_cents: int

    @property
    def booked_cents(self) -> int:
        return self.paid_cents + self.fee_cents if self.simulated else 0


@dataclass(frozen=True)
class Report:
    table: BoardTable
    campaigns: tuple[Campaign, ...]
    methods: str
    figure: str
    costs: tuple[Cost, ...]

    @property
    def simulated(self) -> bool:
        return any(cost.simulated for cost in self.costs)


def report(table: BoardTable) -> Report:
    campaigns = {
        evaluation.submission.pk: campaigns_of(evaluation)
        for evaluation in launched(_scored(table))
    }
    every = [campaign for group in campaigns.values() for campaign in group]
    return Report(
        table=table,
        campaigns=tuple(every),
        methods=methods(table, every, worker_figures(every)) if every else "",
        figure=_figure(table),
        costs=tuple(
            Cost(row.system, row.simulated, *paid_and_fee(campaigns[row.pk]))
            for row in table.rows
            if row.pk in campaigns
        ),
    )


def methods(
    table: BoardTable, campaigns: list[Campaign], figures: WorkerFigures
) -> str:
    task, human = table.task, table.task.human
    if table.note:
        return f"{table.note} {population_of(task)}"
    rated = [row for row in table.rows if row.human]
    simulated = any(row.simulated for row in rated)
    whom = "simulated annotators (programs)" if simulated else "workers"
    whom = "unpaid raters, invited by a link," if task.by_colleagues else whom
    n_instances = max((row.human.of for row in rated if row.human), default=0)
    drawn = "randomly chosen " if n_instances < task.n_instances else ""
    scale = campaigns[0].hit_type.scale
    ratings = ratings_per_output(campaigns, human.ratings_per_instance)
    sentences = [
        f"{figures.n_workers} {whom} rated the outputs of {_number(len(rated), 'system')} "
        f"for the same {_number(n_instances, f'{drawn}instance')} of {task.title}, "
        f"{ratings} rating{'' if ratings == 1 else 's'} per output, by {human.design} ({scale})",
        *(
            f"They were asked about {name}: “{question.rstrip('.')}”"
            for name, question in campaigns[0].hit_type.criteria.items()
        ),
        *_rewordings(task, campaigns),
        _pay(figures, simulated) if figures.highest_reward_cents else "",
        f"Test questions were hidden among the items; {figures.n_wrong:,} of "
        f"{figures.n_asked:,} answers to them were wrong. "
        f"{_number(figures.n_excluded, 'worker')} "
        f"{'was' if figures.n_excluded == 1 else 'were'} excluded, and "
        f"{_number(figures.n_replaced, 'assignment')} asked for again"
        if figures.n_asked
        else f"Raters excluded: {figures.n_excluded or 'none'}",
    ]
    sentences += [
        f"Raters agreed on {name} with a Krippendorff’s alpha of {found.alpha:.2f} "
        f"(95% interval {found.low:.2f} to {found.high:.2f}, {found.level})"
        for name, found in agreement_of(task).items()
        if found.low is not None and found.high is not None
    ]
    covers = next((row.human.covers for row in rated if row.human), "")
    if covers:
        sentences.append(f"Scores have 95% intervals, which cover {covers}")
    sentences += [rank_rule(task) if len(rated) > 1 else population_of(task)]
    sentences += judges.sentences(judges.judged_by(task))
    return " ".join(f"{text.rstrip('.')}." for text in sentences if text)


def _rewordings(task: Task, campaigns: list[Campaign]) -> list[str]:
    answers = Assignment.objects.filter(hit__campaign__in=campaigns)
    return [
        f"After {_number(n, 'answer')}, on {revision.created_at:%Y-%m-%d}, the wording "
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
    for form, (_type, write) in WRITERS.items():
        (folder / f"table.{form}").write_text(write(made.table), "utf-8")
    (folder / "methods.txt").write_text(f"{made.methods}\n", "utf-8")
    (folder / "figure.svg").write_text(made.figure, "utf-8")
    rows = [
        {
            "system": cost.system,
            "simulated": "yes" if cost.simulated else "no",
            "paid_to_workers_usd": _usd(0 if cost.simulated else cost.paid_cents),
            "platform_fees_usd": _usd(0 if cost.simulated else cost.fee_cents),
            "booked_in_simulation_usd": _usd(cost.booked_cents),
        }
        for cost in made.costs
    ]
    columns = ["system", "simulated", "paid_to_workers_usd", "platform_fees_usd"]
    columns.append("booked_in_simulation_usd")
    (folder / "README.md").write_text(_readme(made), "utf-8")
    (folder / "judgments.csv").write_text(_ratings(made.table.task), "utf-8")
    if made.table.task.imported:
        return  # no person was paid here, and no ethics board of ours was asked
    if not made.table.task.by_colleagues:
        (folder / "costs.csv").write_text(csv_text(columns, rows), "utf-8")
    campaigns = list(made.campaigns)
    sheet = ethics_sheet(
        made.table.task.title,
        made.methods,
        campaigns,
        worker_figures(campaigns),
        simulated=made.simulated,
    )
    (folder / "ethics.md").write_text(sheet, "utf-8")


def _ratings(task: Task) -> str:
    """Return a row for each system, item and rater, with a column for each question."""
    import pandas as pd

    names = {"system": "system", "instance": "item", "worker": "rater"}
    rows = pd.DataFrame(judgments(task), columns=[*names, "criterion", "value"])
    wide = rows.rename(columns=names).pivot_table(
        "value", [*names.values()], "criterion", aggfunc="last"
    )
    records: Any = wide.reset_index().to_dict("records")
    return csv_text([*names.values(), *task.human.criteria], records)


def _write_cards(made: Report, folder: Path, site: str) -> None:
    folder.mkdir()
    teams = {
        row.pk: row.team.name if row.team else "anonymous" for row in made.table.rows
    }
    for evaluation in launched(_scored(made.table)):
        submission = evaluation.submission
        figures = worker_figures(campaigns_of(evaluation))
        text = exports.as_markdown(
            card(submission, evaluation, figures, team=teams[submission.pk]),
            heds(submission, evaluation, figures, site),
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
            as_markdown(made.table),
            "- `table.*`: the board as LaTeX, Markdown, CSV, JSON and BibTeX",
            "- `methods.txt`, `figure.svg`"
            + ("" if imported or free else ", `costs.csv`"),
            "- `judgments.csv`: every rating, with a column for each question; the best "
            "answer of a scale with ends is 1 and the worst 0",
            "- `cards`: an evaluation card with the answers of the Human Evaluation "
            "Datasheet for each system",
            *([] if imported else [_ETHICS.replace(" pay,", "") if free else _ETHICS]),
            ""
            if free
            else "- `data`: every rating under pseudonyms; `genie rebuild data` computes "
            "the scores again",
            "",
        ]
    )


def _figure(table: BoardTable) -> str:
    marks: list[Mark] = []
    before: int | None = None
    for row in table.rows:
        if (score := row.human) is None:
            continue
        marks.append(
            Mark(
                row.system,
                score.mean,
                score.inner,
                (score.low, score.high),
                rule=bool(marks) and row.cluster != before,
            )
        )
        before = row.cluster
    return interval_plot(table.criteria[0], marks, LEGEND) if marks else ""


def _scored(table: BoardTable) -> list[int]:
    return [row.pk for row in table.rows if row.human]


def _pay(figures: WorkerFigures, simulated: bool) -> str:
    text = f"An assignment paid ${figures.reward_cents / 100:.2f}"
    if figures.highest_reward_cents > figures.reward_cents:
        text += f" to ${figures.highest_reward_cents / 100:.2f}"
    if figures.hourly_cents and not figures.faster_than_reading:
        text += f" (${figures.hourly_cents / 100:.2f} an hour at the median pace)"
    if simulated:
        return f"{text} in the books of the simulation; nobody was paid"
    return f"{text}; workers were paid ${figures.paid_cents / 100:,.2f} in all"


def _usd(cents: int) -> str:
    return f"{cents / 100:.2f}"


def _number(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
