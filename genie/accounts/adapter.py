"""allauth's adapters: who may sign up, and who must confirm an address first."""

from smtplib import SMTPException
from typing import Any
from urllib.parse import urlencode

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage
from allauth.account.utils import get_next_redirect_url
from allauth.core.internal.httpkit import get_client_ip
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.totp.internal.auth import generate_totp_secret
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext_lazy

from genie.accounts import devices
from genie.accounts.mail import LINE, UNBROKEN, as_html
from genie.lib.unguessable import open_sealed, seal


class SecretsAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    def encrypt(self, text: str) -> str:
        return seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        # If the key is lost, no code may fit.
        return open_sealed(encrypted_text) or generate_totp_secret()


_CONFIRM = "allauth.account.stages.EmailVerificationStage"
_OURS = "genie.accounts.adapter.ConfirmedAddress"


# the purpose of an e-mail's link
_ACTIONS = {
    "account_already_exists": gettext_lazy("Choose a password"),
    "email_confirmation": gettext_lazy("Confirm"),
    "email_confirmation_signup": gettext_lazy("Confirm"),
    "password_reset_key": gettext_lazy("Choose a password"),
    "unknown_account": gettext_lazy("Sign up"),
}
_MISFIT = gettext_lazy(
    "The user name and password do not match. Check capital letters and try again."
)


def _way_back(request: HttpRequest) -> str | None:
    way_back: str | None = getattr(request, "way_back", None)
    return way_back or get_next_redirect_url(request)


def _with_next(url: str, target: str | None) -> str:
    return f"{url}?{urlencode({'next': target}, safe='/')}" if target else url


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": _MISFIT,
        "email_password_mismatch": _MISFIT,
        "too_many_login_attempts": (
            gettext_lazy(
                "Too many failed attempts to sign in. Wait a few minutes, or reset "
                "your password."
            )
        ),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return bool(settings.GENIE["SIGN_UP"])

    def send_mail(
        self, template_prefix: str, email: str, context: dict[str, Any]
    ) -> None:
        site = str(settings.GENIE["SITE_URL"]).rstrip("/")
        try:
            super().send_mail(template_prefix, email, {**context, "site": site})
        except SMTPException:
            raise
        except OSError as error:  # not reached, or a timeout
            raise SMTPException(f"No mail server: {error}") from error

    def render_mail(
        self,
        template_prefix: str,
        email: str | list[str],
        context: dict[str, Any],
        headers: dict[str, str] | None = None,
    ) -> EmailMessage:
        mail: EmailMultiAlternatives = super().render_mail(
            template_prefix, email, {**context, "width": LINE}, headers
        )
        text = render_to_string(
            f"{template_prefix}_message.txt", {**context, "width": UNBROKEN}
        )
        action = str(_ACTIONS.get(template_prefix.rpartition("/")[2], ""))
        html = as_html(text, subject=str(mail.subject), action=action)
        mail.attach_alternative(html, "text/html")
        return mail

    def get_email_confirmation_url(
        self, request: HttpRequest, emailconfirmation: Any
    ) -> str:
        url: str = super().get_email_confirmation_url(request, emailconfirmation)
        sign_in = _with_next(reverse("login"), _way_back(request))
        return _with_next(url, sign_in) if "?" in sign_in else url

    def respond_email_verification_sent(
        self, request: HttpRequest, user: Any
    ) -> HttpResponse:
        url = reverse("account_email_verification_sent")
        return redirect(_with_next(url, _way_back(request)))

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return one address for all visitors of a server on a socket."""
        return get_client_ip(request) or "0.0.0.0"  # noqa: S104  nothing listens there

    def _get_login_attempts_cache_key(
        self, request: HttpRequest, **credentials: Any
    ) -> str:
        """Count failures separately on a device on which the account has signed in."""
        login = credentials.get("email") or credentials.get("username", "")
        everybodys: str = super()._get_login_attempts_cache_key(request, **credentials)
        return devices.counted_apart(request, login) or everybodys

    def post_login(
        self, request: HttpRequest, user: Any, **signed_in: Any
    ) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **signed_in)
        devices.remember(request, response, user)
        return response

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Return the page of the account's role."""
        if request.user.is_staff:
            return reverse("admin:index")
        is_worker = hasattr(request.user, "worker")
        return reverse("work:home" if is_worker else settings.LOGIN_REDIRECT_URL)

    def get_login_stages(self) -> list[str]:
        stages: list[str] = super().get_login_stages()
        return [_OURS if stage == _CONFIRM else stage for stage in stages]


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return bool(settings.GENIE["SIGN_UP"])

    def list_providers(self, request: HttpRequest) -> list[Any]:
        return [_as_it_calls_itself(one) for one in super().list_providers(request)]

    def get_provider(self, *asked: Any, **by_name: Any) -> Any:
        return _as_it_calls_itself(super().get_provider(*asked, **by_name))


def _as_it_calls_itself(provider: Any) -> Any:
    if provider.id == "orcid":
        provider.name = "ORCID"
    return provider


class ConfirmedAddress(EmailVerificationStage):  # type: ignore[misc]
    """Requires new accounts to confirm their address before their first sign-in.

    Accounts created by staff or by a worker's invitation were never asked for an
    address, and are admitted without one. Accounts that have signed in before stay
    admitted: a new address that is not confirmed gets no mail, but locks no one out.
    """

    def handle(self) -> tuple[Any, bool]:
        user = self.login.user
        has_address = EmailAddress.objects.filter(user=user).exists()
        if not self.login.signup and (user.last_login is not None or not has_address):
            return None, True
        if sociallogin := (self.login.signal_kwargs or {}).get("sociallogin"):
            # After another service, the address is only in the session.
            self.request.way_back = sociallogin.get_redirect_url(self.request)
        answer: tuple[Any, bool] = super().handle()
        return answer
