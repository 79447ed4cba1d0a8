"""LaTeX that compiles whatever the texts hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "–": "--",
    "→": r"$\rightarrow$",
    "±": r"$\pm$",
}
# All signs in one pass: replacing them one after another would escape the escapes.
_ANY = re.compile("|".join(map(re.escape, _SIGNS)))


def tex(text: str) -> str:
    """Escape a text; line breaks become spaces."""
    # an empty line would end the paragraph, inside a cell even the compilation
    one_line = " ".join(text.split())
    return _ANY.sub(lambda sign: _SIGNS[sign[0]], one_line)


def tabular(
    columns: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[str]:
    """Give the lines of a table with booktabs rules; cells are LaTeX already."""
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"  \toprule",
        "  " + " & ".join(header) + r" \\",
        r"  \midrule",
        *("  " + " & ".join(row) + r" \\" for row in rows),
        r"  \bottomrule",
        r"\end{tabular}",
    ]
