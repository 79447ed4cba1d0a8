"""LaTeX that compiles with any text."""

import re
from collections.abc import Collection, Sequence

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
# All signs in one pass, because one after another would escape the escapes.
_ANY = re.compile("|".join(map(re.escape, _SIGNS)))


def tex(text: str) -> str:
    """Escape a text; line breaks become spaces."""
    # an empty line would end the paragraph, or in a cell even the compilation
    one_line = " ".join(text.split())
    return _ANY.sub(lambda sign: _SIGNS[sign[0]], one_line)


def tabular(
    columns: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    rules_before: Collection[int] = (),
) -> list[str]:
    """Return the lines of a table with booktabs rules; cells are LaTeX already.

    `rules_before` has the indices of rows with a rule above them.
    """
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"  \toprule",
        "  " + " & ".join(header) + r" \\",
        r"  \midrule",
        *(
            (r"  \midrule" + "\n" if place in rules_before else "")
            + "  "
            + " & ".join(row)
            + r" \\"
            for place, row in enumerate(rows)
        ),
        r"  \bottomrule",
        r"\end{tabular}",
    ]
