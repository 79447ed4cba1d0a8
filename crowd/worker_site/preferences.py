from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature
from django.core.validators import EmailValidator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters

from crowd.campaigns.services import news
from crowd.elsewhere.pages import for_workers
from crowd.hits.models import Campaign, HITType
from crowd.hits.selectors import title_now
from crowd.messages.services import address_of
from crowd.money.models import PaymentDetails, Payout
from crowd.money.selectors.payouts import OWN_SITE, next_for
from crowd.money.services.payouts import (
    Recipient,
    forget_details,
    recipient_of,
    save_details,
)
from crowd.workers.choices import COUNTRIES, UTC, languages, time_zones
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Consent, ConsentVersion, Profile, Worker
from crowd.workers.selectors.eligible import consent_text
from crowd.workers.selectors.profiles import asked_for, may_say_country, profile_of
from crowd.workers.services.invitations import (
    Chosen,
    choose_profile,
    guess_zone,
    no_more_news,
)
from genie.lib.errors import GenieError
from genie.lib.formats import looks_like_formula
from genie.lib.serving.pages import page_of, post_or

Kind = Requirement.Kind


class SettingsForm(forms.Form):
    time_zone = forms.ChoiceField(label=gettext_lazy("Time zone"))
    goes_on = forms.TypedChoiceField(
        label=gettext_lazy("After each HIT"),
        coerce=lambda value: value == "next",
        choices=[
            ("next", gettext_lazy("Go on with the next HIT of the same kind")),
            ("list", gettext_lazy("Go back to the list of work")),
        ],
        widget=forms.RadioSelect,
    )
    wants_news = forms.BooleanField(
        label=gettext_lazy("E-mail me when there is new work for me"),
        required=False,
        help_text=gettext_lazy(
            "At most one e-mail a day; each has a link to stop them."
        ),
    )
    country = forms.ChoiceField(
        label=gettext_lazy("Country where you live"),
        required=False,
        help_text=gettext_lazy("You can change it every 30 days."),
    )
    languages = forms.MultipleChoiceField(
        label=gettext_lazy("Languages that you speak well"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(
        self, posted: QueryDict | None, profile: Profile, address: str
    ) -> None:
        spoken = profile.languages.split()
        initial = {
            "time_zone": profile.time_zone or UTC,
            "goes_on": "next" if profile.goes_on else "list",
            "wants_news": profile.wants_news,
            "country": profile.country,
            "languages": spoken,
        }
        super().__init__(posted, initial=initial)
        asked = asked_for()
        zones = [(name, name.replace("_", " ")) for name in time_zones()]
        self.fields["time_zone"].choices = zones  # type: ignore[attr-defined]
        if not address:
            del self.fields["wants_news"]
        if any(row.kind == Kind.COUNTRY for row in asked) or profile.country:
            places = [("", _("I would rather not say")), *((c, c) for c in COUNTRIES)]
            self.fields["country"].choices = places  # type: ignore[attr-defined]
            self.fields["country"].disabled = not may_say_country(profile)
        else:
            del self.fields["country"]
        # only those that some work needs, and those that were chosen
        codes = {code for row in asked for code in row.language_codes} | {*spoken}
        named = [one for one in languages().items() if one[0] in codes]
        self.fields["languages"].choices = named  # type: ignore[attr-defined]
        if not named:
            del self.fields["languages"]

    def choice(self) -> Chosen:
        given = self.cleaned_data
        return Chosen(
            time_zone=given["time_zone"],
            goes_on=given["goes_on"],
            wants_news=given.get("wants_news", self.initial["wants_news"]),
            country=given.get("country"),
            languages=given.get("languages"),
        )


@for_workers
def settings(request: HttpRequest, worker: Worker) -> HttpResponse:
    profile, address = profile_of(worker), address_of(worker)
    posted = request.POST if request.method == "POST" else None
    form = SettingsForm(posted, profile, address)
    if posted is not None and form.is_valid():
        try:
            choose_profile(worker, form.choice())
        except GenieError as error:
            form.add_error("country", error.message)
        else:
            messages.success(request, _("Saved."))
            return redirect("work:settings")
    context = {
        "here": "settings",
        "form": form,
        "about": [
            form[name] for name in ("country", "languages") if name in form.fields
        ],
        "address": address,
        "agreed": _agreements(worker),
    }
    status = 422 if form.errors else None
    return render(request, "worker_site/settings.html", context, status=status)


@post_or("work:settings")
@for_workers
def zone(request: HttpRequest, worker: Worker) -> HttpResponse:
    kept = guess_zone(worker, request.POST.get("time_zone", ""))
    return HttpResponse(status=204 if kept else None)


@for_workers
def show_consent(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    given = get_object_or_404(Consent, pk=pk, worker=worker)
    kept = ConsentVersion.objects.filter(sha256=given.text_sha256).first()
    now = consent_text(given.pool_id)
    if kept is None and now.sha256 != given.text_sha256:
        raise Http404("The text of that day was not kept.")
    context = {
        "given": given,
        "title": _titles([given.pool_id]).get(given.pool_id, given.pool_id),
        "html": now.html if kept is None else kept.html,
        "in_force": now.sha256 == given.text_sha256,
    }
    return render(request, "worker_site/agreed.html", context)


# Mail programs send this automatically when their button is pressed (RFC 8058).
@csrf_exempt
@never_cache
def no_news(request: HttpRequest, token: str) -> HttpResponse:
    try:
        worker = news.reader(token)
    except BadSignature:
        raise Http404("This link does not work.") from None
    ended = request.method == "POST"
    if ended:
        no_more_news(worker)
    return render(request, "worker_site/no_news.html", {"ended": ended})


def _agreements(worker: Worker) -> list[dict[str, Any]]:
    rows = list(worker.consents.order_by("-given_at", "-pk"))
    titles = _titles({row.pool_id for row in rows})
    return [{"row": row, "title": titles.get(row.pool_id, row.pool_id)} for row in rows]


def _titles(pools: Any) -> dict[str, str]:
    campaigns = Campaign.objects.filter(pool__in=pools).order_by("pk")
    of_pools = dict(campaigns.values_list("pool", "hit_type_id"))
    hit_types = HITType.objects.in_bulk(of_pools.values())
    return {pool: title_now(hit_types[pk]) for pool, pk in of_pools.items()}


# A worker's payment details: entered here, encrypted, and never shown in full again.
PAGE = 50
Method = PaymentDetails.Method


class PaymentForm(forms.Form):
    method = forms.ChoiceField(
        choices=Method.choices, label=gettext_lazy("Payment method")
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
    def recipient(self) -> Recipient:
        needed = "iban" if self.cleaned_data["method"] == Method.BANK else "email"
        return Recipient(self.cleaned_data["name"].strip(), self.cleaned_data[needed])


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
        forget_details(worker)
        messages.success(request, _("Your payment details were deleted."))
        return redirect("work:payment")
    form = PaymentForm(
        request.POST if request.method == "POST" else None,
        initial={"method": details.method} if details else None,
    )
    if form.is_bound and form.is_valid():
        save_details(worker, form.cleaned_data["method"], form.recipient)
        messages.success(request, _("Your payment details were saved."))
        return redirect("work:payment")
    kept = recipient_of(details.sealed) if details else None
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
    status = 422 if form.errors else None
    return render(request, "worker_site/payment.html", context, status=status)
