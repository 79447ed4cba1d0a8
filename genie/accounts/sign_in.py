from typing import Any

from genie.lib import env

# allauth's names, and the prefixes of our variables
KNOWN = {"github": "GENIE_GITHUB", "google": "GENIE_GOOGLE", "orcid": "GENIE_ORCID"}
# names besides groups for which second factors can be required
ALL_STAFF, SUPERUSERS = "staff", "superusers"
_SCOPE = {"github": ["read:user", "user:email"], "google": ["profile", "email"]}


def providers() -> dict[str, dict[str, Any]]:
    """Read the providers that have a client id and a secret in the environment.

    If only one of the two is set, this raises ConfigurationError.
    """
    found: dict[str, dict[str, Any]] = {}
    for provider, prefix in KNOWN.items():
        client_id = env.text(f"{prefix}_CLIENT_ID")
        secret = env.text(f"{prefix}_SECRET")
        if bool(client_id) != bool(secret):
            raise env.ConfigurationError(
                f"{prefix}_CLIENT_ID and {prefix}_SECRET must be set together."
            )
        if client_id:
            found[provider] = {
                "APPS": [{"client_id": client_id, "secret": secret}],
                "OAUTH_PKCE_ENABLED": True,
                **({"SCOPE": _SCOPE[provider]} if provider in _SCOPE else {}),
            }
    return found


def settings_for(*, production: bool) -> dict[str, Any]:
    return {
        "ACCOUNT_ADAPTER": "genie.accounts.adapter.AccountAdapter",
        "ACCOUNT_FORMS": {
            "login": "genie.accounts.forms.LoginForm",
            "signup": "genie.accounts.forms.SignupForm",
            "add_email": "genie.accounts.forms.AddEmailForm",
            "change_password": "genie.accounts.forms.ChangePasswordForm",
            "set_password": "genie.accounts.forms.SetPasswordForm",
            "reset_password": "genie.accounts.forms.ResetPasswordForm",
            "reset_password_from_key": "genie.accounts.forms.ResetPasswordKeyForm",
        },
        "ACCOUNT_LOGIN_METHODS": {"username", "email"},
        "ACCOUNT_SIGNUP_FIELDS": ["username*", "email*", "password1*", "password2*"],
        "ACCOUNT_USERNAME_MIN_LENGTH": 2,
        "ACCOUNT_EMAIL_VERIFICATION": "mandatory",
        "ACCOUNT_EMAIL_NOTIFICATIONS": True,
        "ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS": False,
        "ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE": True,
        "ACCOUNT_MAX_EMAIL_ADDRESSES": 5,
        "ACCOUNT_DEFAULT_HTTP_PROTOCOL": "https" if production else "http",
        "MFA_ADAPTER": "genie.accounts.adapter.SecretsAdapter",
        "MFA_SUPPORTED_TYPES": ["totp", "webauthn", "recovery_codes"],
        "MFA_PASSKEY_LOGIN_ENABLED": True,
        "MFA_RECOVERY_CODES_SHOW_ONCE": True,
        "MFA_TOTP_ISSUER": "Genie",
        # browsers allow passkeys on https and, without it, on localhost
        "MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN": not production,
        "SOCIALACCOUNT_ADAPTER": "genie.accounts.adapter.SocialAdapter",
        "SOCIALACCOUNT_STORE_TOKENS": False,
    }
