"""The record of an edit: what was changed in a text, in words for staff and appeals."""

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
        What stood there and what stands there now; where two parts changed places, the
        two parts.
    text : str
        The whole text as it is now.
    start : int
        Where in the original text `before` begins, in characters.
    change : str
        How it was changed: one of the constants of this module.
    """

    kind: str
    before: str
    after: str
    text: str
    start: int
    change: str = CHANGED

    @property
    def sentence(self) -> str:
        """Describe what was changed."""
        return _SENTENCES[self.change].format(before=self.before, after=self.after)

    @property
    def harms(self) -> str:
        """Describe what the edit makes wrong: adequacy or fluency."""
        return KINDS[self.kind].harms


@dataclass(frozen=True)
class Change:
    """An edit that is proposed: parts of the text and what they become.

    Parameters
    ----------
    kind : str
        A slug of `kinds.KINDS`.
    parts : sequence of (int, int, str)
        Start, end and new text; in order, without overlap.
    before, after : str
        As in `Edit`.
    change : str
        As in `Edit`.
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
        """Return the text after the change.

        Examples
        --------
        >>> Change("number", [(7, 8, "8")], "3", "8").applied("It has 3 legs.")
        'It has 8 legs.'
        """
        for start, end, new in sorted(self.parts, reverse=True):
            text = text[:start] + new + text[end:]
        return text
