from collections.abc import Iterable, Sequence

from leaderboard.boards.exports.table import (
    BoardTable,
    helped_words,
    judges_note,
    with_judges,
)
from leaderboard.boards.selectors.columns import score_range
from leaderboard.boards.selectors.rows import Human, Row
from leaderboard.evaluation.selectors.board_ratings import rank_rule
from leaderboard.metric_runs.selectors import metric_words


def as_markdown(table: BoardTable) -> str:
    """Return the table and a legend; texts cannot break out of a cell."""
    words = [metric_words(slug) for slug in table.metrics]
    header = ["Rank", "Cluster", "System", *table.criteria, *with_judges(table)]
    header += [f"{w.label} {w.arrow}".strip() for w in words]
    rows = [
        [
            rank_of(row),
            "" if row.cluster is None else str(row.cluster),
            _system(row),
            *(_interval(row, name) for name in table.criteria),
            *(helped_words(row, name) for name in table.helped_criteria),
            *(
                f"{row.metrics[w.slug]:.{w.decimals}f}" if w.slug in row.metrics else ""
                for w in words
            ),
        ]
        for row in table.rows
    ]
    return with_notes(header, rows, _notes(table))


def with_notes(
    header: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str]
) -> str:
    lines = [header, [":---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join([*map(_line, lines), "", *notes, ""])


def rank_of(row: Row) -> str:
    if row.rank_first is None:
        return "–"
    single = row.rank_first == row.rank_last
    return f"{row.rank_first}" if single else f"{row.rank_first}–{row.rank_last}"


def _system(row: Row) -> str:
    notes = [row.mark] if row.mark else []
    notes += ["simulated"] if row.simulated else []
    notes += ["provisional"] if row.human and row.human.provisional else []
    notes += [str(row.partial)] if row.partial else []
    return f"{row.system} ({', '.join(notes)})" if notes else row.system


def _interval(row: Row, criterion: str) -> str:
    human: Human | None = row.criteria.get(criterion) if row.human else None
    if human is None:
        return ""
    return f"{human.mean:.1f} ({human.low:.1f} to {human.high:.1f})"


def _notes(table: BoardTable) -> list[str]:
    covers = next((row.human.covers for row in table.rows if row.human), "")
    about = f"{plain(table.task.title)}, {table.at:%Y-%m-%d %H:%M} UTC: {table.address}"
    made_elsewhere = [plain(table.note), ""] if table.note else []
    if not covers:
        return [*made_elsewhere, about]
    return [
        *made_elsewhere,
        f"Scores{score_range(table.task)} with 95% intervals, which cover {covers}. "
        f"{rank_rule(table.task)}",
        *(["", plain(note)] if (note := judges_note(table)) else []),
        "",
        about,
    ]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(plain, cells))} |"


def plain(text: str) -> str:
    one_line = " ".join(text.split())
    if set(one_line) <= set(":-"):
        return one_line
    for sign in "\\`*_[]<>#|":
        one_line = one_line.replace(sign, f"\\{sign}")
    return one_line
