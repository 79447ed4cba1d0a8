from collections.abc import Callable
from dataclasses import dataclass

from crowd.money.models import PaymentDetails, Payout, PayoutRun
from crowd.money.services.payment_details import Recipient, recipient_of
from genie.lib.errors import GenieError
from genie.lib.formats import csv_text

Method = PaymentDetails.Method
CURRENCY = "USD"


@dataclass(frozen=True)
class Layout:
    title: str
    method: str
    columns: tuple[str, ...]
    cells: Callable[[Recipient, str, str], tuple[str, ...]]
    has_header: bool = True


# PayPal: developer.paypal.com, "Payouts Web" (September 2026). Wise: its help, "How do I
# fill in my batch template?", by e-mail. SEPA: the names of ISO 20022, pain.001.
LAYOUTS = {
    "plain": Layout(
        "bank, plain: reference, name, IBAN, amount",
        Method.BANK,
        ("reference", "name", "iban", "amount", "currency"),
        lambda to, amount, name: (name, to.name, to.account, amount, CURRENCY),
    ),
    "sepa": Layout(
        "bank, in the words of SEPA credit transfers",
        Method.BANK,
        (
            "EndToEndId",
            "CreditorName",
            "CreditorIBAN",
            "InstructedAmount",
            "Currency",
            "RemittanceInformation",
        ),
        lambda to, amount, name: (
            *(name, to.name, to.account, amount, CURRENCY),
            f"Genie {name}",
        ),
    ),
    "paypal": Layout(
        "PayPal, mass payment",
        Method.PAYPAL,
        ("email", "amount", "currency", "id", "note", "wallet"),
        lambda to, amount, name: (to.account, amount, CURRENCY, name, "", "PAYPAL"),
        has_header=False,
    ),
    "wise": Layout(
        "Wise, batch by e-mail",
        Method.WISE,
        (
            "name",
            "recipientEmail",
            "paymentReference",
            "receiverType",
            "amountCurrency",
            "amount",
            "sourceCurrency",
            "targetCurrency",
            "type",
        ),
        lambda to, amount, name: (
            *(to.name, to.account, name, "PERSON", "source", amount),
            *(CURRENCY, CURRENCY, "EMAIL"),
        ),
    ),
}


def layouts_of(method: str) -> list[tuple[str, str]]:
    return [(key, one.title) for key, one in LAYOUTS.items() if one.method == method]


def payout_file(run: PayoutRun) -> str:
    """Write a run's file: the same bytes while its payouts are on their way.

    Raises
    ------
    GenieError
        ``details-unreadable``: a file without one worker would be marked as paid for
        all.
    """
    layout = LAYOUTS[run.layout]
    records = []
    for payout in run.payouts.filter(state=Payout.State.IN_FILE).order_by("pk"):
        recipient = recipient_of(payout.sealed)
        if recipient is None:
            raise GenieError(
                f"The payment details of {payout} cannot be read any more: was "
                "GENIE_SECRET_KEY changed? Take the run back if its file was not sent.",
                code="details-unreadable",
            )
        amount = f"{payout.amount_cents // 100}.{payout.amount_cents % 100:02}"
        cells = layout.cells(recipient, amount, payout.reference)
        records.append(dict(zip(layout.columns, cells, strict=True)))
    text = csv_text(layout.columns, records)
    return text if layout.has_header else text.partition("\n")[2]
