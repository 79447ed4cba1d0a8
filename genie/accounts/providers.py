"""Signing in with an account of elsewhere, where the operator has set it up."""

from __future__ import annotations

from typing import Any

from genie.lib import env

# what allauth calls them, and what our variables begin with
KNOWN = {"github": "GENIE_GITHUB", "google": "GENIE_GOOGLE", "orcid": "GENIE_ORCID"}
_SCOPE = {"github": ["read:user", "user:email"], "google": ["profile", "email"]}


def configured() -> dict[str, dict[str, Any]]:
    """Read the providers that have a client id and a secret in the environment.

    Raises
    ------
    genie.lib.env.ConfigurationError
        When only one of the two is there.
    """
    providers: dict[str, dict[str, Any]] = {}
    for provider, prefix in KNOWN.items():
        client_id = env.text(f"{prefix}_CLIENT_ID")
        secret = env.text(f"{prefix}_SECRET")
        if bool(client_id) != bool(secret):
            raise env.ConfigurationError(
                f"{prefix}_CLIENT_ID and {prefix}_SECRET must be set together."
            )
        if client_id:
            providers[provider] = {
                "APPS": [{"client_id": client_id, "secret": secret}],
                "OAUTH_PKCE_ENABLED": True,
                **({"SCOPE": _SCOPE[provider]} if provider in _SCOPE else {}),
            }
    return providers
