"""Workers' payment details: encrypted when entered, decrypted for files only."""

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
    """A payee's name as entered, and the account: an IBAN or an address."""

    name: str
    account: str

    @property
    def hint(self) -> str:
        mailbox, at, host = self.account.rpartition("@")
        return f"{mailbox[:1]}…@{host}" if at else f"…{self.account[-4:]}"


@transaction.atomic
def save(worker: Worker, method: str, recipient: Recipient) -> None:
    sealed = seal(json.dumps(asdict(recipient)))
    PaymentDetails.objects.update_or_create(
        worker=worker, defaults={"method": method, "sealed": sealed, "wrong": False}
    )
    # A person who took over an account would begin here, so its owner gets a message.
    subject = _("Your payment details were changed")
    text = _(
        "If you did not do this, change your password and write to the people who "
        "invited you."
    )
    messages.send(worker, Message.Kind.PAYMENT, subject, text)


def forget(worker: Worker) -> None:
    """Delete a worker's payment details.

    A payout that is in a file keeps its copy until it is over: the file may have been
    sent, and one that is downloaded again must pay the same people.
    """
    PaymentDetails.objects.filter(worker=worker).delete()


def recipient_of(sealed: str) -> Recipient | None:
    """Decrypt the details; None if they were deleted or the key is gone."""
    text = opened(sealed) if sealed else None
    return Recipient(**json.loads(text)) if text else None
