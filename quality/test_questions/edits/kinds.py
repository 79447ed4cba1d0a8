"""The kinds of edits and the quality that each breaks.

A kind makes a text wrong (`ADEQUACY`: its content) or badly written (`FLUENCY`: its
form). Each task defines which of its criteria asks for which.
"""

from collections.abc import Sequence
from dataclasses import dataclass

ADEQUACY, FLUENCY = "adequacy", "fluency"


@dataclass(frozen=True)
class Kind:
    """One kind of edit.

    Parameters
    ----------
    leaves_out : bool
        The text loses content and gains nothing false: wrong only if an output must
        have the whole content of the input, as a translation must.
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
    """Return the slugs of the kinds of edits that break a quality.

    With `says_everything`, an output of the task must have the whole content of its
    input.
    """
    return tuple(
        kind.slug
        for kind in KINDS.values()
        if kind.harms == harms and (says_everything or not kind.leaves_out)
    )
