"""The kinds of edits, and what each makes wrong.

A kind makes a text wrong (`ADEQUACY`: what it says) or badly written (`FLUENCY`: how it
is said). Which of a task's criteria asks for which is for the task to say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

ADEQUACY, FLUENCY = "adequacy", "fluency"


@dataclass(frozen=True)
class Kind:
    """One kind of edit.

    Parameters
    ----------
    slug : str
        Its name in records.
    label : str
        What staff read.
    harms : str
        `ADEQUACY` or `FLUENCY`.
    leaves_out : bool
        The text says less and nothing false: wrong only where an output must say
        everything that the input says, as a translation must.
    """

    slug: str
    label: str
    harms: str
    leaves_out: bool = False


KINDS = {
    kind.slug: kind
    for kind in (
        Kind("entity", "a name changed", ADEQUACY),
        Kind("number", "a number changed", ADEQUACY),
        Kind("negation", "a negation added or taken away", ADEQUACY),
        Kind("opposite", "a word changed to its opposite", ADEQUACY),
        Kind("role", "two names or things changed places", ADEQUACY),
        Kind("unit", "a unit changed", ADEQUACY),
        Kind("thing", "a thing changed", ADEQUACY),
        Kind("clause-swapped", "a clause taken from elsewhere", ADEQUACY),
        Kind("answer", "a short answer changed to another one", ADEQUACY),
        Kind("clause-dropped", "a clause left out", ADEQUACY, leaves_out=True),
        Kind("word-order", "words put in a wrong order", FLUENCY),
        Kind("agreement", "words that no longer agree", FLUENCY),
    )
}


def kinds_that_harm(harms: str, *, says_everything: bool = False) -> Sequence[str]:
    """Return the kinds of edits that make a text wrong in one way.

    Parameters
    ----------
    harms : str
        `ADEQUACY` or `FLUENCY`.
    says_everything : bool, optional
        An output of this task must say everything that its input says.
    """
    return tuple(
        kind.slug
        for kind in KINDS.values()
        if kind.harms == harms and (says_everything or not kind.leaves_out)
    )
