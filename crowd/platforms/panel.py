"""Any panel: people come by a link with named ids, and go back by a code or an address.

CloudResearch Connect, a SONA pool, a company's own list or a class: none has a server
to call, so their differences are configuration.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from crowd.platforms.base import Capabilities, Completion, Identity, Outcome
from crowd.platforms.without_server import Here
from genie.lib.errors import GenieError

SIGNATURE = "signature"
# The characters of all known panels' ids, including e-mail addresses.
_ID = re.compile(r"[A-Za-z0-9_.@:+=-]{1,100}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,49}")
_WEB = re.compile(r"https?://[^\s/?#]+(?:[/?#]\S*)?", re.IGNORECASE)


@dataclass(frozen=True)
class PanelTerms:
    """How one panel identifies people, and how they return to it.

    Parameters
    ----------
    name : str
        Ours; it keeps people of different panels apart.
    worker_parameter, session_parameter, study_parameter : str
        Names in the link; only the first is required.
    ways_out : mapping
        Outcome to a completion code, or to an address in which ``{worker}``,
        ``{session}`` and ``{study}`` are replaced by the ids of the link.
    secret : str
        The key of the pseudonyms.
    link_secret : str
        If set, links without a right signature are refused.
    """

    name: str = ""
    worker_parameter: str = "participantId"
    session_parameter: str = ""
    study_parameter: str = ""
    ways_out: Mapping[str, str] = field(default_factory=dict)
    secret: str = ""
    link_secret: str = ""


class Panel(Here):
    slug = "panel"
    title = "Any panel with a link"
    capabilities = Capabilities(
        idempotent_bonus=True,
        attests=frozenset({"COUNTRY"}),
    )

    def __init__(self, panel: PanelTerms) -> None:
        self.panel = panel

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Panel:
        panel = PanelTerms(**options)
        check(panel)
        return cls(panel)

    def identity(self, parameters: Mapping[str, str]) -> Identity:
        """Read the ids, check the link's signature, and pseudonymize the person.

        The pseudonym is the same for the same person of the same panel, and cannot be
        reversed without the site's secret.
        """
        panel = self.panel
        worker = _read(parameters, panel.worker_parameter)
        session = _read(parameters, panel.session_parameter, needed=False)
        study = _read(parameters, panel.study_parameter, needed=False)
        if panel.link_secret and not _has_signature(panel, parameters):
            raise GenieError(
                "This link has been altered. Ask for a new one.", code="link-not-signed"
            )
        return Identity(
            worker_id=self._pseudonym("worker", worker),
            session_id=self._pseudonym("session", session or worker),
            study_id=study,
            back_to=urlencode({"worker": worker, "session": session, "study": study}),
        )

    def _pseudonym(self, kind: str, value: str) -> str:
        text = f"panel\x1f{self.panel.name}\x1f{kind}\x1f{value}".encode()
        digest = hmac.new(self.panel.secret.encode(), text, hashlib.sha256)
        return digest.hexdigest()[:32]

    def completion(self, who: Identity, outcome: Outcome) -> Completion:
        """Return the code or the address; `back_to` holds the panel's own ids."""
        ways = self.panel.ways_out
        # Excluded people have worked; people without work must not get the code for
        # work.
        instead = "completed" if outcome == "failed-check" else outcome
        way = ways.get(outcome) or ways.get(instead, "")
        if not way:
            return Completion("none")
        if not _WEB.fullmatch(way):
            return Completion("code", code=way)
        ids = dict(parse_qsl(who.back_to, keep_blank_values=True))
        for name in ("worker", "session", "study"):
            way = way.replace(f"{{{name}}}", quote(ids.get(name, ""), safe=""))
        return Completion("redirect", url=way)


def check(panel: PanelTerms) -> None:
    """Refuse a configuration that cannot work, or that sends people to a wrong address.

    Examples
    --------
    >>> check(PanelTerms("connect", "participantId", "assignmentId", secret="s"))
    >>> check(PanelTerms("x", "two words", secret="s"))
    Traceback (most recent call last):
    ...
    genie.lib.errors.GenieError: 'two words' is not a valid parameter name: ...
    """
    names = [panel.worker_parameter, panel.session_parameter, panel.study_parameter]
    used = [name for name in names if name]
    for name in used:
        if not _NAME.fullmatch(name) or name == SIGNATURE:
            raise _unusable(
                f"{name!r} is not a valid parameter name: use letters, digits, dot, "
                f"hyphen and underscore, and not {SIGNATURE}."
            )
    if len({name.lower() for name in used}) < len(used):
        raise _unusable("Each id needs a separate parameter.")
    if not panel.worker_parameter or not panel.secret:
        raise _unusable("Enter the parameter that identifies each person.")
    for outcome, way in panel.ways_out.items():
        if way and ("://" in way or way.startswith("/")) and not _WEB.fullmatch(way):
            raise _unusable(f"{outcome}: {way!r} is not a web address.")
        # An id in the host's name would send people, and their ids, wherever a link
        # says.
        if _WEB.fullmatch(way) and "{" in way.split("?")[0].split("/", 3)[2]:
            raise _unusable(f"{outcome}: the host name cannot contain an id.")


def signature(link_secret: str, parameters: Mapping[str, str]) -> str:
    """Sign the parameters of a link, whatever their order."""
    text = urlencode(sorted(parameters.items())).encode()
    return hmac.new(link_secret.encode(), text, hashlib.sha256).hexdigest()


def _has_signature(panel: PanelTerms, parameters: Mapping[str, str]) -> bool:
    signed = {name: value for name, value in parameters.items() if name != SIGNATURE}
    expected = signature(panel.link_secret, signed)
    return hmac.compare_digest(expected, parameters.get(SIGNATURE, ""))


def _read(parameters: Mapping[str, str], name: str, *, needed: bool = True) -> str:
    value = parameters.get(name, "") if name else ""
    if (value or needed) and not _ID.fullmatch(value):
        raise GenieError(
            "The link does not identify you; open it again where you found it.",
            code="who-are-you",
        )
    return value


def _unusable(sentence: str) -> GenieError:
    return GenieError(sentence, code="platform-not-configured")
