"""Whether a task's license allows passing its texts on."""

import re

# Prefixes of licenses that allow everyone to copy. After a short name only an end, a
# version or a remark may follow: "MIT Press" is no MIT license.
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


def may_be_copied(license: str) -> bool:
    """Return whether texts under this license may be passed on; False if in doubt."""
    return bool(_OPEN.match(license.strip().casefold()))
