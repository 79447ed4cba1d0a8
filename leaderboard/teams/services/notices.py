from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import get_language, gettext, gettext_lazy

from genie.accounts.addresses import addresses_of
from genie.accounts.mail import LINE, UNBROKEN, message
from genie.lib.logs import one_line
from genie.lib.serving.languages import ENGLISH
from genie.lib.typing import Account
from leaderboard.teams.models import Notice, NoticePreference
from leaderboard.teams.selectors import absolute, muted_kinds
from leaderboard.teams.services.announce import KINDS

_SUBJECT = {
    "submitted": gettext_lazy("%(system)s was received"),
    "invalid": gettext_lazy("%(system)s is invalid"),
    "approved": gettext_lazy("%(system)s is approved for human evaluation"),
    "published": gettext_lazy("%(system)s is published"),
}


def send(pk: int) -> None:
    """Send one notice once; a failed e-mail is tried again."""
    with transaction.atomic():
        # Marked before it is sent, so that two processes do not send it twice.
        taken = Notice.objects.filter(pk=pk, sent_at=None).update(
            sent_at=timezone.now()
        )
    if not taken:
        return
    notice = Notice.objects.select_related(
        "user", "event__submission__task", "event__submission__team"
    ).get(pk=pk)
    address = addresses_of([notice.user]).get(notice.user_id)
    if not address:
        return
    try:
        with translation.override(language_of(notice.user)):
            _message(notice, address).send()
    except OSError:
        Notice.objects.filter(pk=pk).update(sent_at=None)
        raise


def _message(notice: Notice, address: str) -> EmailMultiAlternatives:
    submission = notice.event.submission
    said = _SUBJECT[notice.kind] % {"system": submission.system_name}
    context = {
        "notice": notice,
        "submission": submission,
        # events are stored in English
        "said": notice.event.sentence
        if translation.get_language() == ENGLISH
        else f"{said}.",
        "link": absolute("leaderboard:submission", submission.pk),
        "preferences": absolute("leaderboard:notices"),
    }
    name = "leaderboard/teams/notice.txt"
    return message(
        one_line(f"[Genie] {said}", 150),
        render_to_string(name, {**context, "width": LINE}),
        address,
        action=gettext("Open the submission"),
        unbroken=render_to_string(name, {**context, "width": UNBROKEN}),
    )


def language_of(user: Account) -> str:
    row = NoticePreference.objects.filter(user_id=user.pk).first()
    return row.language if row and row.language else ENGLISH


def choose_language(user: Account, language: str) -> None:
    NoticePreference.objects.update_or_create(
        user_id=user.pk, defaults={"language": language}
    )


def keep_language(user: Account, **_: object) -> None:
    """Store the language of a sign-in if none is stored and it is not English."""
    reads = get_language() or ENGLISH
    if reads == ENGLISH:
        return
    row, _made = NoticePreference.objects.get_or_create(user_id=user.pk)
    NoticePreference.objects.filter(pk=row.pk, language="").update(language=reads)


def muted_by(user: Account) -> list[str]:
    kinds = muted_kinds(user)
    return [kind for kind in KINDS.values() if kind in kinds]


def choose(user: Account, wanted_kinds: list[str]) -> None:
    # Unwanted kinds are stored, so that a kind that is added later is sent.
    muted = [kind for kind in KINDS.values() if kind not in wanted_kinds]
    NoticePreference.objects.update_or_create(
        user_id=user.pk, defaults={"muted": muted}
    )
