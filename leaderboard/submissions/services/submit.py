"""Receive a file of predictions: stored under its sha256, counted, queued."""

import hashlib
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import count
from typing import IO, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext

from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.submissions import states
from leaderboard.submissions.models import (
    CONTRASTIVE,
    DETAILS,
    PRIMARY,
    Detail,
    Submission,
    Team,
)
from leaderboard.submissions.services import lifecycle
from leaderboard.tasks.models import Task

# Check and change the submitter's details of a system.

# Characters that make a text look different, or break a line.
UNFIT = re.compile(r"[\x00-\x1f\x7f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Characters that no database stores as text.
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def checked_details(**details: str) -> dict[str, str]:
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
        **checked_details(**about),
    }
    if baseline is not None:
        said["baseline"] = baseline
    if said.get("entry", submission.entry) != submission.entry:
        if submission.human_evaluation_id:
            raise _bad_entry(
                gettext("The kind of an entry cannot be changed once people are asked.")
            )
        said["entry"] = settle_entry(
            submission.task, submission.team, said["entry"], but=submission.pk
        )
    changed = [name for name in said if said[name] != getattr(submission, name)]
    for name in changed:
        setattr(submission, name, said[name])
    if changed:
        submission.save(update_fields=changed)
    return changed


def settle_entry(task: Task, team: Team, entry: str, *, but: int = 0) -> str:
    """Return the kind of an entry: beside a team's primary system, all are contrastive."""
    others = task.submissions.filter(team=team).exclude(pk=but)
    others = others.exclude(own_state__in=[State.INVALID, State.WITHDRAWN])
    primary = others.filter(entry=PRIMARY).first()
    if entry == PRIMARY and primary:
        raise _bad_entry(
            gettext("%(system)s is your team's primary system; withdraw it first.")
            % {"system": primary.system_name}
        )
    if entry == PRIMARY:
        others.update(entry=CONTRASTIVE)
    return CONTRASTIVE if primary else entry


def _bad_entry(sentence: str) -> GenieError:
    return GenieError(sentence, code="bad-detail", details={"parameter": "entry"})


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


TEAM_NAME_CHARACTERS = 200
State = Submission.State
_MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Quota:
    used: int
    limit: int
    days: int
    next_at: datetime | None

    @property
    def n_left(self) -> int:
        return max(0, self.limit - self.used)


@dataclass(frozen=True)
class StoredFile:
    name: str
    sha256: str
    n_bytes: int


def receive(
    *,
    task: Task,
    owner: Account,
    team: Team,
    system_name: str,
    file: IO[bytes],
    file_name: str,
    description: str = "",
    links: Iterable[str] = (),
    visibility: str = Submission.Visibility.PUBLIC,
    anonymous_until: date | None = None,
    simulated: bool = False,
    also: Callable[[Submission], object] | None = None,
    **about: str,
) -> Submission:
    """Store the file and create the submission; a job checks its content.

    `also` is called in the same transaction, and can roll it back by raising. `about`
    has other details of the system: see `detail_names`.
    """
    _refuse_unfit(task, owner, team, system_name)
    said: dict[str, Any] = {
        "description": checked_description(description),
        "links": checked_links(links),
        **checked_details(**about),
    }
    exempt = exempt_from_quota(owner, "leaderboard.add_submission")
    if not exempt:
        _refuse_over_quota(quota(task, team))  # before reading a large file in vain
    stored = store(file)
    with transaction.atomic():
        # The row lock makes two submissions at once count one after the other.
        Team.objects.select_for_update().get(pk=team.pk)
        if not exempt:
            _refuse_over_quota(quota(task, team))
        said["entry"] = settle_entry(task, team, said.get("entry", ""))
        submission = Submission.objects.create(
            task=task,
            team=team,
            owner=owner,
            system_name=system_name.strip(),
            **said,
            visibility=visibility,
            anonymous_until=anonymous_until,
            simulated=simulated,
            file=stored.name,
            file_name=UNFIT.sub("", file_name)[-200:] or "predictions",
            file_sha256=stored.sha256,
            file_bytes=stored.n_bytes,
        )
        lifecycle.tell(
            submission.pk,
            Submission.State.RECEIVED,
            f"Received {submission.file_name} ({stored.n_bytes:,} bytes).",
            by=owner,
        )
        jobs.enqueue("leaderboard.jobs.validate", pk=submission.pk)
        if also is not None:
            also(submission)
    return submission


def team_for(user: Account) -> Team:
    """Return the user's only team; create one if they have none.

    Members of several teams must choose: the choice decides who sees a submission and
    whose quota it uses.
    """
    if (only := _only_team(user)) is not None:
        return only
    with transaction.atomic():
        # Two first submissions at once: the second one finds the first one's team.
        get_user_model().objects.select_for_update().get(pk=user.pk)
        if (only := _only_team(user)) is not None:
            return only
        team = Team.objects.create(
            slug=free_slug(slugify(user.get_username())[:80] or "team"),
            name=(user.get_full_name() or user.get_username())[:TEAM_NAME_CHARACTERS],
        )
        team.members.add(
            user, through_defaults={"role": Team.members.through.Role.OWNER}
        )
    return team


def _only_team(user: Account) -> Team | None:
    teams = list(Team.objects.filter(members=user).order_by("pk"))
    if len(teams) > 1:
        slugs = [team.slug for team in teams]
        raise GenieError(
            gettext(
                "You are a member of %(n)s teams; name the one that submits: %(teams)s."
            )
            % {"n": len(slugs), "teams": ", ".join(slugs)},
            code="team-required",
            details={"parameter": "team", "choices": slugs},
        )
    return teams[0] if teams else None


def free_slug(base: str) -> str:
    """Return an unused team slug made from `base`."""
    taken = set(
        Team.objects.filter(slug__startswith=base).values_list("slug", flat=True)
    )
    numbered = (f"{base}-{number}" for number in count(2))
    return base if base not in taken else next(s for s in numbered if s not in taken)


def exempt_from_quota(user: Account, permission: str) -> bool:
    """Return whether quotas do not apply: staff who may add such rows without a limit.

    A token also needs the scope staff.
    """
    return user.is_staff and user.has_perm(permission)


def quota(task: Task, team: Team) -> Quota:
    """Count the team's recent submissions, without invalid and failed ones."""
    rule = task.configuration.quota
    days, limit = rule.days, rule.submissions
    since = timezone.now() - timedelta(days=days)
    times = list(
        Submission.objects.filter(task=task, team=team, created_at__gt=since)
        .exclude(own_state=Submission.State.INVALID)
        .exclude(failure_permanent=True)
        .exclude(
            human_evaluation__failure_permanent=True,
            human_evaluation__state__in=states.STEPS,
        )
        .order_by("created_at")
        .values_list("created_at", flat=True)
    )
    # The next one is possible once enough of them are older than the quota's days; a
    # limit of 0 means no limit.
    full = len(times) >= limit > 0
    next_at = times[len(times) - limit] + timedelta(days=days) if full else None
    return Quota(used=len(times), limit=limit, days=days, next_at=next_at)


def store(file: IO[bytes]) -> StoredFile:
    """Copy the file to storage under its sha256, reading it at most twice."""
    limit = settings.GENIE["MAX_UPLOAD_BYTES"]
    digest, n_bytes = hashlib.sha256(), 0
    file.seek(0)
    while chunk := file.read(_MEBIBYTE):
        # Counted here: the client's Content-Length may be wrong.
        n_bytes += len(chunk)
        if n_bytes > limit:
            raise GenieError(
                gettext(
                    "The file is larger than %(limit)s MB; upload only the predictions. "
                    "The limit also applies after decompression."
                )
                % {"limit": limit // _MEBIBYTE},
                code="file-too-large",
                details={"limit_bytes": limit},
            )
        digest.update(chunk)
    if n_bytes == 0:
        raise GenieError(
            gettext("The file is empty; upload one prediction for each instance."),
            code="empty-file",
        )
    sha256 = digest.hexdigest()
    name = f"submissions/{sha256[:2]}/{sha256}"
    if not (default_storage.exists(name) and default_storage.size(name) == n_bytes):
        file.seek(0)
        # If an incomplete file has this name, the storage chooses a different one.
        try:
            name = default_storage.save(name, File(file))
        except OSError:  # a full disk may store an incomplete file
            with suppress(OSError):
                default_storage.delete(name)
            raise
    return StoredFile(name=name, sha256=sha256, n_bytes=n_bytes)


def _refuse_unfit(task: Task, owner: Account, team: Team, system_name: str) -> None:
    if task.imported:
        raise GenieError(
            gettext(
                "The ratings of this task were imported, so you cannot add systems here."
            ),
            code="not-accepting",
        )
    if not task.accepts_submissions:
        raise GenieError(
            gettext("%(title)s is not accepting submissions at the moment.")
            % {"title": task.title},
            code="not-accepting",
        )
    if not owner.is_superuser and not team.members.filter(pk=owner.pk).exists():
        raise GenieError(
            gettext("You are not a member of the team %(name)s; choose one of yours.")
            % {"name": team.name},
            code="not-a-member",
        )
    name = system_name.strip()
    visible = any(sign.isprintable() and not sign.isspace() for sign in name)
    if not visible or len(name) > 100 or UNFIT.search(name):
        raise GenieError(
            gettext(
                "The system's name must have 1 to 100 visible characters on one line."
            ),
            code="bad-name",
        )


def _refuse_over_quota(state: Quota) -> None:
    if state.next_at is None:
        return
    raise GenieError(
        gettext(
            "Your team has used %(used)s of the %(limit)s submissions allowed "
            "for this task in %(days)s days; the next is possible on %(day)s at %(time)s "
            "UTC."
        )
        % {
            "used": state.used,
            "limit": state.limit,
            "days": state.days,
            "day": f"{state.next_at:%Y-%m-%d}",
            "time": f"{state.next_at:%H:%M}",
        },
        code="quota-reached",
        details={
            "used": state.used,
            "limit": state.limit,
            "days": state.days,
            "next_at": state.next_at.isoformat(),
        },
    )
