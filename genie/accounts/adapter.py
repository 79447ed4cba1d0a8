"""Where allauth asks us: who may sign up, and who must confirm an address first."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.http import HttpRequest

_CONFIRM = "allauth.account.stages.EmailVerificationStage"
_OURS = "genie.accounts.adapter.ConfirmedAddress"


_MISFIT = "Name and password do not fit together. Mind capitals, and try again."


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": _MISFIT,
        "email_password_mismatch": _MISFIT,
        "too_many_login_attempts": (
            "Too many failed tries to sign in. Wait a few minutes, or reset the "
            "password."
        ),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return bool(settings.GENIE["SIGN_UP"])

    def get_login_stages(self) -> list[str]:
        stages: list[str] = super().get_login_stages()
        return [_OURS if stage == _CONFIRM else stage for stage in stages]


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return bool(settings.GENIE["SIGN_UP"])


class ConfirmedAddress(EmailVerificationStage):  # type: ignore[misc]
    """Who signed up confirms their address before they come in for the first time.

    Accounts that staff made, or that a worker's invitation made, never were asked for
    an address, and are let in without one. Who has been in once stays welcome: a new
    address that nobody confirmed gets no mail, but locks nobody out.
    """

    def handle(self) -> tuple[Any, bool]:
        user = self.login.user
        asked = EmailAddress.objects.filter(user=user).exists()
        if not self.login.signup and (user.last_login is not None or not asked):
            return None, True
        answer: tuple[Any, bool] = super().handle()
        return answer
