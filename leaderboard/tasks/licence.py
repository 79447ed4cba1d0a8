"""Whether a task's licence lets its texts be handed on."""

import re

# How a licence's name begins when it lets everybody copy. What follows a short name is
# an end, a version or a remark: "MIT Press" is no MIT licence.
_OPEN = re.compile(
    r"""
    apache(\ license,?)?(\ version)?[\ -]2(\.0)?(?![\w.])
    | cc0(?!\w)
    | cc[\ -]by(-(sa|nc|nd|nc-sa|nc-nd))?([\ -]\d\.\d)?(?![\w-])
    | mit(\ licen[cs]e)?\s*($|[(,;])
    | odc[\ -](by|pddl)(?!\w) | odbl(?!\w) | pddl(?!\w)
    | public\ domain\s*($|[(,;])
    | (0|[23])-clause\ bsd(?!\w) | bsd($|[\ -](0|[23])-clause)
    """,
    re.VERBOSE,
)


def may_be_copied(licence: str) -> bool:
    """Tell whether texts under this licence may be handed on; in doubt, they may not."""
    return bool(_OPEN.match(licence.strip().casefold()))
