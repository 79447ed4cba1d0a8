from genie.accounts.admin import (
    AccessTokenAdmin,
    AuthenticatorAdmin,
    EmailAddressAdmin,
    PrivateReadAdmin,
    SocialAccountAdmin,
)
from genie.history.admin import LogEntryAdmin

__all__ = [
    "AccessTokenAdmin",
    "AuthenticatorAdmin",
    "EmailAddressAdmin",
    "LogEntryAdmin",
    "PrivateReadAdmin",
    "SocialAccountAdmin",
]
