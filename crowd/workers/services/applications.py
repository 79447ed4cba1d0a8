"""Open sign-up: who wants to work here applies, and staff accept or decline."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy, override
from django.utils.translation import gettext as _

from crowd.messages import services as messages
from crowd.messages.models import Message
from crowd.workers.models.worker import Application
from crowd.workers.services import profiles
from crowd.workers.services.invitations import register_worker
from genie.accounts.mail import message
from genie.lib import jobs
from genie.lib.admin.log import note

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

State = Application.State


def apply(user: AbstractBaseUser, words: str, mail: str) -> Application:
    """Take an application, one for each account; a second is the first."""
    application, _made = Application.objects.get_or_create(
        user_id=user.pk,
        defaults={"words": words, "mail": mail, "language": get_language() or ""},
    )
    return application


def decide(
    rows: Collection[Application], accept: bool, by: AbstractBaseUser, why: str = ""
) -> int:
    """Accept or decline applications that are open; all are told. Returns how many."""
    return sum(_decide(row, accept, by, why) for row in rows)


@transaction.atomic
def _decide(row: Application, accept: bool, by: AbstractBaseUser, why: str) -> bool:
    state = State.ACCEPTED if accept else State.DECLINED
    # Of two clicks only one finds it open, so the person is told once.
    still_open = Application.objects.filter(pk=row.pk, state=State.APPLIED)
    if not still_open.update(state=state, decided_at=timezone.now()):
        return False
    if accept:
        worker = register_worker(
            user=row.user, platform_worker_id=f"user-{row.user_id}"
        )
        if row.language:
            profiles.choose_language(row.user_id, row.language)
        text = gettext_lazy("The staff of this site have accepted you as a worker.")
        messages.send(worker, Message.Kind.STAFF, gettext_lazy("Welcome"), text)
    note(by, row, "Accepted." if accept else "Declined.", why)
    if row.mail:
        jobs.enqueue("crowd.jobs.tell_applicant", application=row.pk)
    return True


def tell(pk: int) -> None:
    """Write to somebody what was decided, once."""
    row = Application.objects.exclude(state=State.APPLIED).filter(pk=pk).first()
    if row is None or not row.mail:
        return
    # Marked before it is sent: two processes do not write to somebody twice.
    if not Application.objects.filter(pk=pk, mail=row.mail).update(mail=""):
        return
    with override(row.language or settings.LANGUAGE_CODE):
        letter = message(
            _("[Genie] Your application"), _letter(row), row.mail, action=_("Sign in")
        )
    try:
        letter.send()
    except OSError:
        Application.objects.filter(pk=pk).update(mail=row.mail)
        raise


def _letter(row: Application) -> str:
    if row.state == State.ACCEPTED:
        address = f"{settings.GENIE['SITE_URL'].rstrip('/')}{reverse('work:home')}"
        return _("You can work on Genie now. Sign in here:\n%(address)s\n") % {
            "address": address
        }
    return _(
        "Thank you for your interest in working on Genie. The staff of this site "
        "have no place for you at the moment.\n"
    )
