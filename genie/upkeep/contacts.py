import re
from typing import Any

from genie.lib import env

_ADDRESS = re.compile(r"(?:https://|mailto:|tel:)[!-~]+")


def from_environment() -> dict[str, Any]:
    return {
        "ALERTS": env.words("GENIE_ALERTS"),
        "SECURITY_CONTACT": [
            as_address(one) for one in env.words("GENIE_SECURITY_CONTACT")
        ],
        # at the foot of every page
        "CONTACT": _address("GENIE_CONTACT"),
        "SOURCE_URL": _address("GENIE_SOURCE_URL"),
    }


def as_address(contact: str, variable: str = "GENIE_SECURITY_CONTACT") -> str:
    """Return a contact as the URI that RFC 9116 requires."""
    uri = contact if ":" in contact else f"mailto:{contact}"
    if not _ADDRESS.fullmatch(uri) or (uri.startswith("mailto:") and "@" not in uri):
        raise env.ConfigurationError(
            f"{variable} must be e-mail addresses or addresses that begin with "
            f"https://, separated by commas, not {contact!r}."
        )
    return uri


def _address(variable: str) -> str:
    given = env.text(variable)
    return as_address(given, variable) if given else ""
