import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC

from genie.lib.formats import csv_text, tabular, tex
from leaderboard.boards.exports.markdown import as_markdown
from leaderboard.boards.exports.table import (
    BoardTable,
    columns,
    helped_words,
    judges_note,
    nested_rows,
    records,
    with_judges,
)
from leaderboard.boards.selectors.columns import score_range
from leaderboard.boards.selectors.rows import Human, Row
from leaderboard.charts import format_score
from leaderboard.evaluation.selectors.board_ratings import rank_rule
from leaderboard.metric_runs.selectors import metric_words
from leaderboard.tasks.selectors import MARK, mark_of


def as_csv(table: BoardTable) -> str:
    return csv_text(columns(table), records(table))


def as_json(table: BoardTable) -> str:
    rows = list(nested_rows(table))
    document = {
        "task": table.task.slug,
        "title": table.task.title,
        "imported": table.note or None,
        "release_sha256": table.task.release_sha256,
        "as_of": table.at.astimezone(UTC).isoformat(),
        "address": table.address,
        "ranked_by": table.criteria[0],
        "rank_rule": rank_rule(table.task),
        "judges": judges_note(table) or None,
        "n_rows": len(rows),
        "reason_if_empty": table.reason,
        "rows": rows,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_latex(table: BoardTable) -> str:
    """Return a floating table for a paper; it needs the package booktabs."""
    words = [metric_words(slug) for slug in table.metrics]
    header = ["Rank", "System", *(tex(name) for name in table.criteria)]
    header += [tex(name) for name in with_judges(table)]
    header += [f"{tex(w.label)} {tex(w.arrow)}".strip() for w in words]
    rows = [
        [
            _rank(row),
            tex(row.system)
            + (f" ({row.mark})" if row.mark else "")
            + (r"$^{*}$" if row.simulated else "")
            + (r"$^{\dagger}$" if row.human and row.human.provisional else "")
            + (tex(f" ({row.partial})") if row.partial else ""),
            *(_interval(row, name) for name in table.criteria),
            *(helped_words(row, name) or "--" for name in table.helped_criteria),
            *(
                f"{row.metrics[w.slug]:.{w.decimals}f}"
                if w.slug in row.metrics
                else "--"
                for w in words
            ),
        ]
        for row in table.rows
    ]
    return "\n".join(
        [
            f"% {table.task.slug}, {len(rows)} rows, as of {table.at:%Y-%m-%d %H:%M} UTC",
            *([f"% {table.reason}"] if table.reason else []),
            *([f"% {' '.join(table.note.split())}"] if table.note else []),
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            *tabular(
                "ll" + "r" * (len(header) - 2),
                header,
                rows,
                _cluster_starts(table.rows),
            ),
            rf"\caption{{{_caption(table)}}}",
            rf"\label{{tab:{re.sub('[^a-z0-9-]', '-', table.task.slug)}}}",
            r"\end{table}",
            "",
        ]
    )


def _cluster_starts(rows: Sequence[Row]) -> set[int]:
    clusters = [row.cluster for row in rows if row.cluster is not None]
    if clusters != sorted(clusters):
        return set()
    return {
        place
        for place in range(1, len(rows))
        if rows[place].cluster != rows[place - 1].cluster
    }


def as_bibtex(table: BoardTable) -> str:
    key = re.sub("[^a-z0-9]", "", table.task.slug)
    board = "\n".join(
        [
            f"@misc{{genie{key}{table.at:%Y%m%d},",
            f"  title = {{{{{tex(table.task.title)}: human evaluation leaderboard}}}},",
            f"  year = {{{table.at:%Y}}},",
            f"  howpublished = {{\\url{{{table.address}}}}},",
            f"  note = {{As of {table.at:%Y-%m-%d %H:%M} UTC, {_n_systems(table)}}},",
            "}",
            "",
        ]
    )
    citation = table.task.citation.strip()
    # an invalid citation would break the BibTeX file
    return f"{citation}\n\n{board}" if citation.startswith("@") else board


def _n_systems(table: BoardTable) -> str:
    n = len(table.rows)
    said = f"{n} system{'' if n == 1 else 's'}"
    n_simulated = sum(row.simulated for row in table.rows)
    if n_simulated:
        which = "simulated" if n_simulated == n else f"{n_simulated} of them simulated"
        said += f", {which}: not rated by people"
    return said + mark_of(table.task)


WRITERS: dict[str, tuple[str, Callable[[BoardTable], str]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json", as_json),
    "md": ("text/markdown; charset=utf-8", as_markdown),
    "tex": ("application/x-tex; charset=utf-8", as_latex),
    "bib": ("application/x-bibtex; charset=utf-8", as_bibtex),
}


def _rank(row: Row) -> str:
    if row.rank_first is None:
        return "--"
    single = row.rank_first == row.rank_last
    return f"{row.rank_first}" if single else f"{row.rank_first}--{row.rank_last}"


def _interval(row: Row, criterion: str) -> str:
    human: Human | None = row.criteria.get(criterion) if row.human else None
    if human is None:
        return "--"
    return format_score(human)


def _caption(table: BoardTable) -> str:
    caption = f"{table.task.title}: {_scores(table)}"
    if covers := next((row.human.covers for row in table.rows if row.human), ""):
        caption += f" with 95% intervals. These cover {covers}. "
        caption += rank_rule(table.task)
    else:
        caption += "."
    if note := judges_note(table):
        caption += f" {note}"
    if table.task.imported:
        caption += f" {MARK.capitalize()}."
    if any(row.simulated for row in table.rows):
        caption += " * simulated: not rated by people."
    if any(row.partial for row in table.rows):
        caption += (
            " Systems rated on too few instances have a rank only if staff decided so."
        )
    caption = tex(caption)
    if any(row.human and row.human.provisional for row in table.rows):
        caption += r" $^{\dagger}$ provisional: ratings are still being checked."
    return caption + tex(f" {table.address}, {table.at:%Y-%m-%d}.")


def _scores(table: BoardTable) -> str:
    scored = [row for row in table.rows if row.human]
    if not scored:
        return "no scores yet"
    by_people = any(not row.simulated for row in scored)
    return f"{'human' if by_people else 'simulated'} scores{score_range(table.task)}"
