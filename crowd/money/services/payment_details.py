"""Where workers want their money: sealed when they say it, opened for files only."""

import json
from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from crowd.messages import services as messages
from crowd.messages.models import Message
from crowd.money.models import PaymentDetails
from crowd.workers.models.worker import Worker
from genie.lib.unguessable import opened, seal

Method = PaymentDetails.Method


@dataclass(frozen=True)
class Recipient:
    """Who is paid, as the person wrote it, and the account: an IBAN or an address."""

    name: str
    account: str

    @property
    def hint(self) -> str:
        """Say so much of the account that its owner knows it again."""
        mailbox, at, host = self.account.rpartition("@")
        return f"{mailbox[:1]}…@{host}" if at else f"…{self.account[-4:]}"


@transaction.atomic
def save(worker: Worker, method: str, recipient: Recipient) -> None:
    """Keep what a worker has entered; nothing of what was there before."""
    sealed = seal(json.dumps(asdict(recipient)))
    PaymentDetails.objects.update_or_create(
        worker=worker, defaults={"method": method, "sealed": sealed, "wrong": False}
    )
    # Whoever took over an account would begin here: its owner reads of it.
    subject = _("Your payment details were changed")
    text = _(
        "If you did not do this, change your password and write to the people who "
        "invited you."
    )
    messages.send(worker, Message.Kind.PAYMENT, subject, text)


def forget(worker: Worker) -> None:
    """Delete what a worker has entered.

    A payout that is in a file keeps its copy until it is over: nobody knows whether the
    file was sent already, and one that is downloaded again must pay the same people.
    """
    PaymentDetails.objects.filter(worker=worker).delete()


def recipient_of(sealed: str) -> Recipient | None:
    """Open what was sealed; None where it was deleted or the key is gone."""
    text = opened(sealed) if sealed else None
    return Recipient(**json.loads(text)) if text else None
