"""The record of an edit, in words for staff and appeals."""

from collections.abc import Sequence
from dataclasses import dataclass

from quality.test_questions.edits.kinds import KINDS

CHANGED, ADDED, REMOVED = "changed", "added", "removed"
SWAPPED, REORDERED = "swapped", "reordered"

_SENTENCES = {
    CHANGED: "“{before}” was changed to “{after}”.",
    ADDED: "“{after}” was added.",
    REMOVED: "“{before}” was left out.",
    SWAPPED: "“{before}” and “{after}” changed places.",
    REORDERED: "The words “{before}” were put in another order: “{after}”.",
}


@dataclass(frozen=True)
class Edit:
    """One edit of one text.

    Parameters
    ----------
    kind : str
        A slug of `kinds.KINDS`.
    before, after : str
        The old and the new part; for an exchange, the two parts.
    start : int
        Start of `before` in the original text, in characters.
    change : str
        The sort of change: one of the constants of this module.

    Examples
    --------
    >>> Edit("number", "3", "8", "It has 8 legs.", 7).sentence
    '“3” was changed to “8”.'
    """

    kind: str
    before: str
    after: str
    text: str
    start: int
    change: str = CHANGED

    @property
    def sentence(self) -> str:
        return _SENTENCES[self.change].format(before=self.before, after=self.after)

    @property
    def harms(self) -> str:
        """Return which quality the edit breaks: adequacy or fluency."""
        return KINDS[self.kind].harms


@dataclass(frozen=True)
class Change:
    """A proposed edit: parts of the text and their replacements; see `Edit`.

    Parameters
    ----------
    parts : sequence of (int, int, str)
        Start, end and new text; in order, without overlap.
    tier : int
        0: before all others of its kind; the greater, the later.
    """

    kind: str
    parts: Sequence[tuple[int, int, str]]
    before: str
    after: str
    change: str = CHANGED
    tier: int = 1

    def applied(self, text: str) -> str:
        for start, end, new in sorted(self.parts, reverse=True):
            text = text[:start] + new + text[end:]
        return text
