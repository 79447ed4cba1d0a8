"""A worker's payment details: entered here, encrypted, and never shown in full again."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from crowd.elsewhere.pages import for_workers
from crowd.money.models import PaymentDetails, Payout
from crowd.money.selectors.payouts import OWN_SITE, next_for
from crowd.money.services import payment_details
from crowd.workers.models.worker import Worker
from genie.lib.formats import looks_like_formula
from genie.lib.serving.pages import page_of

PAGE = 50
Method = PaymentDetails.Method


class PaymentForm(forms.Form):
    method = forms.ChoiceField(
        choices=Method.choices, label=gettext_lazy("How you want to be paid")
    )
    name = forms.CharField(
        max_length=70,
        label=gettext_lazy("Name of the account holder"),
        help_text=gettext_lazy("As your bank or payment service knows it."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    iban = forms.CharField(
        max_length=42,
        required=False,
        label="IBAN",
        help_text=gettext_lazy("For a bank transfer."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    email = forms.EmailField(
        max_length=200,
        required=False,
        label=gettext_lazy("E-mail address of the account"),
        help_text=gettext_lazy("For PayPal or Wise."),
    )

    def clean_iban(self) -> str:
        iban = "".join(self.cleaned_data["iban"].split()).upper()
        if iban and not is_iban(iban):
            raise ValidationError(
                _("This is not a valid IBAN; check it for mistyped characters.")
            )
        return iban

    def clean_email(self) -> str:
        """Refuse an address that spreadsheets would change into a different one."""
        email: str = self.cleaned_data["email"]
        if looks_like_formula(email):
            raise ValidationError(EmailValidator.message, code="invalid")
        return email

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or {}
        needed = "iban" if cleaned.get("method") == Method.BANK else "email"
        if (
            cleaned.get("method")
            and not cleaned.get(needed)
            and needed not in self.errors
        ):
            self.add_error(needed, _("Enter this to be paid in this way."))
        return cleaned

    @property
    def recipient(self) -> payment_details.Recipient:
        needed = "iban" if self.cleaned_data["method"] == Method.BANK else "email"
        return payment_details.Recipient(
            self.cleaned_data["name"].strip(), self.cleaned_data[needed]
        )


def is_iban(text: str) -> bool:
    """Check form and check digits (ISO 13616: the number is 1 modulo 97)."""
    if not (15 <= len(text) <= 34 and text.isascii() and text.isalnum()):
        return False
    if not (text[:2].isalpha() and text[2:4].isdigit()):
        return False
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


@sensitive_post_parameters("name", "iban", "email")
@for_workers
def payment(request: HttpRequest, worker: Worker) -> HttpResponse:
    if worker.platform != OWN_SITE:
        raise Http404("The platform that you came from pays you.")
    details = PaymentDetails.objects.filter(worker=worker).first()
    if request.method == "POST" and "delete" in request.POST:
        payment_details.forget(worker)
        messages.success(request, _("Your payment details were deleted."))
        return redirect("work:payment")
    form = PaymentForm(
        request.POST if request.method == "POST" else None,
        initial={"method": details.method} if details else None,
    )
    if form.is_bound and form.is_valid():
        payment_details.save(worker, form.cleaned_data["method"], form.recipient)
        messages.success(request, _("Your payment details were saved."))
        return redirect("work:payment")
    kept = payment_details.recipient_of(details.sealed) if details else None
    payouts = worker.payouts.exclude(state=Payout.State.PUT_OFF)
    payouts = payouts.select_related("run").order_by("-pk")
    context = {
        "here": "earnings",
        "form": form,
        "details": details,
        "hint": kept.hint if kept else "",
        "next": next_for(worker),
        "page": page_of(payouts, PAGE, request.GET.get("page")),
    }
    status = 422 if form.errors else 200
    return render(request, "worker_site/payment.html", context, status=status)
