"""Sheets as LaTeX tables for a paper."""

from collections.abc import Sequence

from genie.lib.formats import tabular, tex
from leaderboard.table_stats.report import Sheet


def as_latex(sheets: Sequence[Sheet]) -> str:
    r"""Return a floating table for each sheet; they need the package booktabs.

    Examples
    --------
    >>> r"\toprule" in as_latex([Sheet("Marks", ("who", "mark"), (("A", "3.5"),))])
    True
    """
    lines = [r"% \usepackage{booktabs}"]
    for sheet in sheets:
        header = [tex(cell) for cell in sheet.header]
        rows = [[tex(cell) for cell in row] for row in sheet.rows]
        for number in sheet.rules:
            rows[number][0] = rf"\midrule {rows[number][0]}"
        body = tabular(
            "l" * min(2, len(header)) + "r" * (len(header) - 2), header, rows
        )
        caption = tex(". ".join([sheet.title, *(n.rstrip(".") for n in sheet.notes)]))
        lines += [r"\begin{table}", r"\centering", *body]
        lines += [rf"\caption{{{caption}.}}", r"\end{table}", ""]
    return "\n".join(lines) + "\n"
