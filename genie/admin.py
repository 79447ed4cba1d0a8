"""Where Django looks for the admin pages of this app."""

from __future__ import annotations

from genie.accounts.admin import (
    AccessTokenAdmin,
    AuthenticatorAdmin,
    EmailAddressAdmin,
    PrivateReadAdmin,
    SocialAccountAdmin,
)

__all__ = [
    "AccessTokenAdmin",
    "AuthenticatorAdmin",
    "EmailAddressAdmin",
    "PrivateReadAdmin",
    "SocialAccountAdmin",
]
