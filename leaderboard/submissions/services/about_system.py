"""Check and change the submitter's details of a system."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext

from genie.lib.errors import GenieError
from leaderboard.submissions.models import Submission

# Characters that make a text look different, or break a line.
UNFIT = re.compile(r"[\x00-\x1f\x7f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Characters that no database stores as text.
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
# 7B, 1.5B, 355M, 8x22B, ~1T: short enough for a column, with a number
_PARAMETERS = re.compile(r"[~≈<>]? ?(\d+ ?[x×] ?)?\d[\d.,]* ?[kmbt]?", re.IGNORECASE)
FIELDS = ("organization", "weights", "parameters", "licence")


def checked(
    *,
    organization: str = "",
    weights: str = "",
    parameters: str = "",
    licence: str = "",
) -> dict[str, str]:
    """Return a system's details as they are stored, or raise an error."""
    if weights not in {"", *Submission.Weights.values}:
        raise _refused(
            "weights",
            gettext("Say of the weights that they are open or closed, or nothing."),
        )
    size = parameters.strip()
    if size and (len(size) > 20 or not _PARAMETERS.fullmatch(size)):
        raise _refused(
            "parameters",
            gettext("Write the number of parameters like 7B, 1.5B, 355M or 8x22B."),
        )
    return {
        "organization": _line("organization", organization),
        "weights": weights,
        "parameters": size,
        "licence": _line("licence", licence),
    }


def describe(
    submission: Submission,
    *,
    description: str,
    links: Iterable[str],
    baseline: str | None = None,
    **about: str,
) -> list[str]:
    """Change a system's details; return the names of the changed fields.

    The calling pages check permissions; `baseline` is for staff only.
    """
    said: dict[str, Any] = {
        "description": checked_description(description),
        "links": checked_links(links),
        **checked(**about),
    }
    if baseline is not None:
        said["baseline"] = baseline
    changed = [name for name in said if said[name] != getattr(submission, name)]
    for name in changed:
        setattr(submission, name, said[name])
    if changed:
        submission.save(update_fields=changed)
    return changed


def checked_description(description: str) -> str:
    if _UNSTORABLE.search(description) or len(description) > 4000:
        raise GenieError(
            gettext("The description must be text of at most 4,000 characters."),
            code="bad-description",
        )
    return description.strip()


def checked_links(links: Iterable[str]) -> list[str]:
    return [_checked_link(link.strip()) for link in links if link.strip()]


def _checked_link(link: str) -> str:
    try:
        parts = urlsplit(link)
    except ValueError:
        parts = urlsplit("")
    good = parts.scheme in {"http", "https"} and parts.netloc and len(link) <= 500
    if not good or UNFIT.search(link):
        raise GenieError(
            gettext(
                "The link %(link)s must be a web address that begins with https://."
            )
            % {"link": f"{link[:80]!r}"},
            code="bad-link",
        )
    return link


def _line(name: str, text: str) -> str:
    text = text.strip()
    if len(text) > 100 or UNFIT.search(text):
        raise _refused(
            name, gettext("This must be one line of at most 100 characters.")
        )
    return text


def _refused(name: str, sentence: str) -> GenieError:
    return GenieError(sentence, code="bad-detail", details={"parameter": name})
