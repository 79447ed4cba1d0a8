"""Check and change the submitter's details of a system."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext

from genie.lib.errors import GenieError
from leaderboard.submissions.models import DETAILS, Detail, Submission

# Characters that make a text look different, or break a line.
UNFIT = re.compile(r"[\x00-\x1f\x7f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Characters that no database stores as text.
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def checked(**details: str) -> dict[str, str]:
    own = {detail.name: detail for detail in DETAILS}
    return {name: _checked_detail(own[name], text) for name, text in details.items()}


def _checked_detail(detail: Detail, text: str) -> str:
    text = text.strip()
    too_long = len(text) > (detail.field.max_length or 0)
    if text and (
        too_long or UNFIT.search(text) or not re.fullmatch(detail.pattern, text)
    ):
        raise GenieError(
            str(detail.refusal), code="bad-detail", details={"parameter": detail.name}
        )
    return text


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
