"""What submitters say of a system beside its predictions: checked, and changed later."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext

from genie.lib.errors import GenieError
from leaderboard.submissions.models.submission import Submission

# Characters that would let a text look like something else, or break a line.
UNFIT = re.compile(r"[\x00-\x1f\x7f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# What no database keeps as text.
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
# 7B, 1.5B, 355M, 8x22B, ~1T: short enough for a column, and a number in front
_PARAMETERS = re.compile(r"[~≈<>]? ?(\d+ ?[x×] ?)?\d[\d.,]* ?[kmbt]?", re.IGNORECASE)
FIELDS = ("organization", "weights", "parameters", "licence")


def checked(
    *,
    organization: str = "",
    weights: str = "",
    parameters: str = "",
    licence: str = "",
) -> dict[str, str]:
    """Give what is said of a system as it is kept, or refuse it with its sentence."""
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
    """Change what is said of a system; give the names of the fields that changed.

    Who may, and that `baseline` is the staff's, their pages decide.
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
