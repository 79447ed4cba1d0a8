"""Sheets and pictures as one self-contained HTML page."""

from collections.abc import Sequence
from html import escape

from leaderboard.table_stats.analysis import Analysis
from leaderboard.table_stats.report import Mark, Sheet, interval_plot

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;"
    "padding:0 1rem;color:#26323c}table{border-collapse:collapse;margin:.5rem 0}"
    "th,td{padding:.2rem .7rem;text-align:left;font-variant-numeric:tabular-nums}"
    "thead th{border-bottom:2px solid #888}tr.rule td{border-top:1px solid #888}"
    ".scroll{overflow-x:auto}p.note{margin:.2rem 0;color:#555}svg{max-width:100%;"
    "height:auto}"
)


def as_page(title: str, parts: Sequence[tuple[str, Sequence[Sheet]]]) -> str:
    """Return a page of parts, each an SVG picture (may be empty) and sheets.

    Examples
    --------
    >>> "<table>" in as_page("T", [("", [Sheet("Marks", ("who",), (("A",),))])])
    True
    """
    body = ["\n".join([picture, *map(_sheet, sheets)]) for picture, sheets in parts]
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{escape(title)}</h1>",
            *body,
            "</body></html>",
            "",
        ]
    )


def picture(analysis: Analysis) -> str:
    clusters = [1, *(line.cluster for line in analysis.systems)]
    marks = [
        Mark(
            line.system,
            line.estimate.estimate,
            line.plain.ends,
            line.estimate.ends,
            rule=line.cluster != above,
        )
        for line, above in zip(analysis.systems, clusters, strict=False)
    ]
    title = analysis.criterion or "Systems"
    legend = "dot: estimate; thin: 95%; thick: this crowd"
    return interval_plot(title, marks, legend)


def _sheet(sheet: Sheet) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in sheet.header)
    rows = []
    for number, row in enumerate(sheet.rows):
        mark = ' class="rule"' if number in sheet.rules else ""
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
        rows.append(f"<tr{mark}>{cells}</tr>")
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in sheet.notes)
    return (
        f'<h2>{escape(sheet.title)}</h2><div class="scroll"><table><thead><tr>{head}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>{notes}"
    )
