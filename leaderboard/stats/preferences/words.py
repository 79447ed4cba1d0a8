"""What was adjusted for, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.stats.preferences.adjusted import POSITION

#: Covariates as people call them.
WORDS = {
    "length": "length",
    "headers": "Markdown headers",
    "lists": "list items",
    "bold": "bold text",
}
CAUTION = (
    "Length and layout may be part of what people want: neither number is the true one, "
    "and their difference says how much hangs on style."
)


def adjusted_for(names: Sequence[str], left_out: Sequence[str] = ()) -> str:
    """Say what a fit was adjusted for, and what could not be.

    Parameters
    ----------
    names : sequence of str
        Covariates that were told apart.
    left_out : sequence of str
        Those that could not be.

    Returns
    -------
    str

    Examples
    --------
    >>> adjusted_for(["length", "bold", "position"])
    'Adjusted for differences in length and bold text, and for which text stood first.'
    >>> adjusted_for(["position"], ["lists"])
    'Adjusted for which text stood first; list items could not be told apart from the rest.'
    """
    styles = [WORDS.get(name, name) for name in names if name != POSITION]
    parts = [f"differences in {_and(styles)}"] if styles else []
    if POSITION in names:
        parts.append("which text stood first")
    said = f"Adjusted for {', and for '.join(parts)}" if parts else "Not adjusted"
    if left_out:
        others = [
            "which text stood first" if name == POSITION else WORDS.get(name, name)
            for name in left_out
        ]
        said += f"; {_and(others)} could not be told apart from the rest"
    return f"{said}."


def _and(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
