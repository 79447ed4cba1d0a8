from __future__ import annotations

import csv
import hashlib
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import StringIO
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import F, Max
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.formats import date_format
from django.utils.translation import get_language, gettext, override
from django.utils.translation import gettext as _

from crowd.hits.models import Campaign
from crowd.messages.models import Message
from crowd.requester.models import WorkerRecord
from crowd.workers.choices import COUNTRIES, languages, time_zones
from crowd.workers.models.worker import (
    Consent,
    ConsentVersion,
    Invitation,
    Profile,
    Worker,
)
from crowd.workers.selectors.eligible import consent_text
from crowd.workers.selectors.profiles import may_say_country
from crowd.workers.selectors.requirements import held_qualifications
from crowd.workers.services import test_attempts
from genie.accounts.mail import message
from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.unguessable import name_for

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

# How the tokens of links for raters without an account begin.
STUDY = "study-"
# The maximal number of people in one file, and of its bad lines in an error.
MOST_MAILS = 500
SHOWN = 20


def invite(
    by: AbstractBaseUser,
    note: str = "",
    days: int = 14,
    places: int = 1,
    code: str = "",
    campaign: Campaign | None = None,
    pool: str | None = None,
    limited_to: Sequence[str] = (),
    group: str = "",
    mail: str = "",
    language: str = "",
) -> str:
    """Create an invitation and return its token, which is not stored.

    With `code`, newcomers must know it, too. The work of a campaign or pool with an
    invitation is only for people who come by one, including workers of the site, and
    they see it before all other work. Newcomers by an invitation that is `limited_to`
    some pools see no other. They have the qualification `group` from the start. A job
    e-mails the link to `mail`, in `language` or else in the site's.
    """
    token = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        token_sha256=_hash_token(token),
        note=note[:200],
        code=code.strip(),
        campaign=campaign,
        pool_id=pool,
        limited_to=sorted(limited_to),
        group=group,
        mail=mail,
        places=places,
        created_by_id=by.pk,
        expires_at=timezone.now() + timedelta(days=days),
    )
    if mail:
        said = {"language": language} if language else {}
        jobs.enqueue("crowd.jobs.send_invitation", invitation=invitation.pk, **said)
    return token


@transaction.atomic
def invite_raters(
    by: AbstractBaseUser, notes: Iterable[str], *, pool: str, **wanted: Any
) -> None:
    """Create a study's links, for raters without an account."""
    for note in notes:
        first = _hash_token(invite(by, note, pool=pool, limited_to=[pool], **wanted))
        row = Invitation.objects.get(token_sha256=first)
        row.token_sha256 = _hash_token(study_token(row))
        row.save(update_fields=["token_sha256"])


def study_token(invitation: Invitation) -> str:
    """Return the token of a study's link, which can be shown again."""
    return STUDY + name_for("study link", invitation.pk)


def study_links(pool: str) -> list[tuple[Invitation, str]]:
    rows = Invitation.objects.filter(pool=pool, places__gt=0).order_by("pk")
    links = [(row, study_token(row)) for row in rows]
    return [
        (row, token) for row, token in links if _hash_token(token) == row.token_sha256
    ]


def close_pool(pool: str, *, by: AbstractBaseUser) -> None:
    """Reserve a pool's work, before it has a link, for the people who will have one.

    Workers who have agreed to take part in it keep it.
    """
    if not Invitation.objects.filter(pool=pool).exists():
        invite(by, f"{pool}: only by link", days=0, places=0, pool=pool)


def send(pk: int, language: str = "") -> None:
    """E-mail an invitation with a new link, because no token is stored."""
    with transaction.atomic():
        invitation = Invitation.objects.filter(pk=pk).exclude(mail="").first()
        # Marked before it is sent, so two processes do not both write to a person.
        rows = Invitation.objects.filter(pk=pk, n_taken=0).exclude(mail="")
        token = secrets.token_urlsafe(24)
        if not rows.update(mail="", token_sha256=_hash_token(token)):
            return
    if invitation is None:
        return
    address = f"{settings.GENIE['SITE_URL'].rstrip('/')}{reverse('work:invitation', args=[token])}"
    with override(language or settings.LANGUAGE_CODE):
        mail = message(
            _("[Genie] You are invited"),
            _words(invitation, address),
            invitation.mail,
            action=_("Start"),
        )
    try:
        mail.send()
    except OSError:
        rows = Invitation.objects.filter(pk=pk, mail="")
        rows.update(mail=invitation.mail)
        raise


def _words(invitation: Invitation, address: str) -> str:
    text = _(
        "You are invited to rate texts on Genie. You see the pay for each page before you "
        "begin, and you decide when and how much you work.\n\n"
        "To take part, open this link; you can create an account there:\n"
        "%(address)s\n\n"
        "The link works once, until %(day)s (UTC). If you do not want to take part, "
        "ignore this message.\n"
    ) % {"address": address, "day": date_format(invitation.expires_at, "DATE_FORMAT")}
    code = _("You are asked for this code: %(code)s") % {"code": invitation.code}
    return f"{text}\n{code}\n" if invitation.code else text


def addresses(text: str) -> list[tuple[str, str, str]]:
    """Read addresses: one a line, optionally with a note and a language.

    If the header line says so, the language comes before the note.

    Raises
    ------
    GenieError
        ``bad-addresses``, with the wrong lines.
    """
    found: dict[str, tuple[str, str]] = {}
    problems = []
    note_at, language_at = 1, 2
    known = {code.lower(): code for code, _name in settings.LANGUAGES}
    file = StringIO(text.removeprefix("\ufeff"), newline="")
    # spreadsheets write semicolons if numbers have decimal commas
    rows = csv.reader(file, delimiter=";" if ";" in text.partition("\n")[0] else ",")
    for line, cells in enumerate(rows, 1):
        given = [cell.strip() for cell in cells] + ["", "", ""]
        mail, note, language = given[0], given[note_at], given[language_at].lower()
        is_header = line == 1 and "@" not in mail
        if is_header and given[1].casefold() == "language":
            note_at, language_at = 2, 1
        if is_header or not any(cells):
            continue
        if wrong := _wrong(mail, language, found, known):
            problems.append(f"Line {line}: {mail[:60] or 'an empty cell'} {wrong}.")
        found[mail] = note, known.get(language, "")
    if not found:
        problems = ["The file has no e-mail addresses."]
    if len(found) > MOST_MAILS:
        problems = [f"At most {MOST_MAILS} people can be invited at once."]
    if problems:
        raise GenieError(" ".join(problems[:SHOWN]), code="bad-addresses")
    return [(mail, note, language) for mail, (note, language) in found.items()]


def _wrong(
    mail: str, language: str, found: Collection[str], known: Collection[str]
) -> str:
    try:
        validate_email(mail)
    except ValidationError:
        return "is no e-mail address"
    if mail.casefold() in map(str.casefold, found):
        return "appears twice"
    if language and language not in known:
        return f"has the language {language[:20]!r}; there are {', '.join(known)}"
    return ""


def find(token: str) -> Invitation | None:
    return Invitation.objects.filter(token_sha256=_hash_token(token)).first()


def usable(token: str) -> Invitation:
    invitation = find(token)
    if invitation is None:
        raise GenieError(_("There is no such invitation."), code="no-such-invitation")
    if invitation.n_taken >= invitation.places:
        raise GenieError(_used_up(invitation), code="invitation-used")
    if invitation.expires_at <= timezone.now():
        raise GenieError(
            _("This invitation has expired; ask for a new one."),
            code="invitation-expired",
        )
    return invitation


@transaction.atomic
def redeem(
    token: str, user: AbstractBaseUser | None, code: str = "", name: str = ""
) -> Worker:
    """Take a place; without `user`, that of a study's rater, who has no account.

    The link, and the name if several people share it, identify raters in any browser.
    """
    invitation = find(token) or usable(token)
    name = name or invitation.note
    key = f"user-{user.pk}" if user else f"link-{invitation.pk}:{name}"
    known = invitation.workers.filter(user=None, platform_worker_id__iexact=key)
    if user is None and (rater := known.first()):
        return rater
    invitation = usable(token)
    if not constant_time_compare(code.strip(), invitation.code):
        raise GenieError(
            _("The code is wrong. Ask the person who sent you the link."),
            code="wrong-code",
        )
    # Compare and set: two who open the same link at once cannot both take its last
    # place.
    row = Invitation.objects.filter(pk=invitation.pk)
    if not row.filter(n_taken__lt=F("places")).update(n_taken=F("n_taken") + 1):
        raise GenieError(_used_up(invitation), code="invitation-used")
    row.filter(n_taken=F("places")).update(used_at=timezone.now())
    # After the row is locked, so that a form sent twice at once takes one place.
    worker = Worker.objects.filter(user_id=user.pk).first() if user else None
    is_known = worker is not None
    if worker is None:
        key += "" if name or user else f"rater {row.get().n_taken}"
        worker = register_worker(user=user, platform_worker_id=key)
        worker.limited_to = invitation.limited_to
        worker.came_by = invitation
        worker.save(update_fields=["limited_to", "came_by"])
    by_link = invitation.campaign_id is not None or invitation.pool_id is not None
    links = (
        row if by_link else Invitation.objects.filter(pool__in=invitation.limited_to)
    )
    opened = list(links.exclude(guests=worker))
    worker.invited_to.add(*opened)
    widened = not by_link and _widen(worker, invitation)
    joined = bool(invitation.group) and _join(worker, invitation)
    if is_known and not (opened or widened or joined):
        raise GenieError(
            _("You are already a worker here; give the invitation to someone else."),
            code="already-a-worker",
        )
    return worker


def _widen(worker: Worker, invitation: Invitation) -> bool:
    """Open more work to a limited worker; False if none of it is new."""
    known, more = set(worker.limited_to), set(invitation.limited_to)
    if not known or (more and more <= known):
        return False
    worker.limited_to = sorted(known | more) if more else []
    worker.save(update_fields=["limited_to"])
    return True


def _join(worker: Worker, invitation: Invitation) -> bool:
    if held_qualifications(worker, [invitation.group], timezone.now()):
        return False
    test_attempts.grant_by_hand(worker, invitation.group, by=invitation.created_by)
    return True


def register_worker(
    *,
    platform_worker_id: str,
    user: AbstractBaseUser | None = None,
    platform: str = "selfhosted",
    simulated: bool = False,
) -> Worker:
    worker, _ = Worker.objects.get_or_create(
        platform=platform,
        platform_worker_id=platform_worker_id,
        defaults={"user_id": user.pk if user else None, "simulated": simulated},
    )
    return worker


def _used_up(invitation: Invitation) -> str:
    if invitation.places == 1:
        return _(
            "This invitation has been used. Each one is for one person; ask for a new "
            "one."
        )
    return _("All places of this invitation are taken; ask for a new one.")


def _hash_token(token: str) -> str:
    # The token has too many random bits to guess, so a plain hash is enough.
    return hashlib.sha256(token.encode()).hexdigest()


def forget_before(limit: datetime) -> int:
    """Delete invitations that expired before a moment; return how many.

    Used ones stay, without their note, because workers refer to them. So do those to a
    campaign or pool, whose work they reserve.
    """
    old = Invitation.objects.filter(expires_at__lt=limit)
    gone = old.filter(n_taken=0, workers=None, campaign=None, pool=None)
    stay = old.exclude(pk__in=gone.values("pk"))
    n_noted = stay.exclude(note="", code="").update(note="", code="", mail="")
    return n_noted + int(gone.delete()[0])


@transaction.atomic
def give_consent(worker: Worker, pool: str, language: str | None = None) -> None:
    """Record consent to the pool's present text; once per version.

    `language` is the one in which the worker read it.
    """
    text = consent_text(pool, language)
    ConsentVersion.objects.get_or_create(
        sha256=text.sha256, defaults={"html": text.html}
    )
    Consent.objects.get_or_create(worker=worker, pool_id=pool, text_sha256=text.sha256)


@dataclass(frozen=True)
class Chosen:
    """A worker's settings of one page; None leaves a setting unchanged."""

    time_zone: str
    goes_on: bool
    wants_news: bool
    country: str | None = None
    languages: Iterable[str] | None = None


def choose_language(user_pk: int, language: str) -> None:
    for worker in Worker.objects.filter(user_id=user_pk):
        Profile.objects.update_or_create(worker=worker, defaults={"language": language})


def guess_zone(worker: Worker, name: str) -> bool:
    """Store the browser's zone and language if the worker has chosen no zone.

    False if the zone is not stored.
    """
    if name not in time_zones():
        return False
    profile, _ = Profile.objects.get_or_create(worker=worker)
    Profile.objects.filter(pk=profile.pk, language="").update(language=get_language())
    return bool(
        Profile.objects.filter(pk=profile.pk, time_zone="").update(time_zone=name)
    )


@transaction.atomic
def choose_profile(worker: Worker, chosen: Chosen) -> None:
    """Store a worker's choices.

    Raises
    ------
    GenieError
        ``said-already`` for a different country too soon after the last one.
    """
    Profile.objects.get_or_create(worker=worker)
    profile = Profile.objects.select_for_update().get(worker=worker)
    if chosen.wants_news and not profile.wants_news:
        # Existing work is no news.
        running = Campaign.objects.filter(state=Campaign.State.RUNNING).order_by()
        newest = running.aggregate(at=Max("starts_at"))["at"]
        profile.news_until = newest or timezone.now()
    profile.time_zone = chosen.time_zone
    profile.goes_on = chosen.goes_on
    profile.wants_news = chosen.wants_news
    if chosen.languages is not None:
        known = languages()
        profile.languages = " ".join(code for code in chosen.languages if code in known)
    if chosen.country is not None and chosen.country != profile.country:
        if not may_say_country(profile):
            raise GenieError(
                gettext("The country was changed less than 30 days ago."),
                code="said-already",
            )
        profile.country = chosen.country if chosen.country in COUNTRIES else ""
        profile.country_said_at = timezone.now()
    profile.save()


def no_more_news(worker_pk: int) -> None:
    Profile.objects.filter(worker=worker_pk).update(wants_news=False)


def forget_profile(worker: Worker) -> None:
    for model in (Profile, WorkerRecord, Message):
        model.objects.filter(worker=worker).delete()
