"""The tables of the study of language models' answers."""

from collections.abc import Sequence

from genie_research.authenticity.real_models import Told
from genie_research.authenticity.study import Cell


def study_table(cells: Sequence[Cell]) -> str:
    """Return the simulated cells as a table in Markdown.

    For each judge the area with its simulation error, and the shares of models and of
    people, in percent, whom the evidence calls unusual.
    """
    judges = sorted({cell.crowd.judge for cell in cells})
    heads = "".join(f" judge {_bare(judge)} | unusual |" for judge in judges)
    lines = [
        f"| models in the place of | spread | answers each |{heads}",
        "|---|---|---|" + "---|---|" * len(judges),
    ]
    found = {
        (c.crowd.spread, c.crowd.share, c.crowd.n_answers, c.crowd.judge): c
        for c in cells
    }
    rows = {row[:3] for row in found}
    for row in sorted(rows, key=lambda row: (-row[0], *row[1:])):
        shown = [_cell(found.get((*row, judge))) for judge in judges]
        spread, share, n = row
        lines.append(f"| {100 * share:g}% | {spread:g} | {n} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "– | –"
    return (
        f"{_short(cell.area)} ± {_short(cell.error)} | "
        f"{100 * cell.named:.0f} / {100 * cell.wronged:.1f}"
    )


def _bare(number: float) -> str:
    return f"{number:g}".removeprefix("0")


def models_table(rows: Sequence[Told]) -> str:
    lines = [
        "| data set | answers each | people | batches | judge: mean ± error | least to most | narrowness |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        narrow = "–" if row.narrow != row.narrow else _short(row.narrow)
        lines.append(
            f"| {row.data_set} | {row.n_answers} | {row.n_people} | {row.n_batches} | "
            f"{_short(row.mean)} ± {_short(row.error)} | "
            f"{_short(row.least)} to {_short(row.most)} | {narrow} |"
        )
    return "\n".join(lines)


def _short(number: float) -> str:
    return f"{number:.3f}".removeprefix("0")
