"""What an operator can choose: where mail goes, who else may vouch for a person."""

from pathlib import Path

import pytest

from genie.accounts import mail, sign_in
from genie.lib import env
from genie.lib.serving.security import policy

FOLDER = Path("mail")


def test_mail_goes_to_files_the_console_or_a_server():
    assert mail.settings_for("file", FOLDER)["EMAIL_FILE_PATH"] == "mail"
    assert "console" in mail.settings_for("console", FOLDER)["EMAIL_BACKEND"]
    smtp = mail.settings_for("smtp://me:p%2Fw@mail.example:2525", FOLDER)
    assert (smtp["EMAIL_HOST"], smtp["EMAIL_PORT"]) == ("mail.example", 2525)
    assert (smtp["EMAIL_HOST_USER"], smtp["EMAIL_HOST_PASSWORD"]) == ("me", "p/w")
    assert (smtp["EMAIL_USE_TLS"], smtp["EMAIL_USE_SSL"]) == (True, False)
    smtps = mail.settings_for("smtps://mail.example", FOLDER)
    assert (smtps["EMAIL_PORT"], smtps["EMAIL_USE_SSL"]) == (465, True)


@pytest.mark.parametrize("where", ["", "sendmail", "smtp://", "http://mail.example"])
def test_mail_to_nowhere_is_refused_at_the_start(where):
    with pytest.raises(env.ConfigurationError, match="GENIE_EMAIL must be"):
        mail.settings_for(where, FOLDER)


def test_nothing_of_elsewhere_is_offered_unless_set_up(monkeypatch):
    for prefix in sign_in.KNOWN.values():
        monkeypatch.delenv(f"{prefix}_CLIENT_ID", raising=False)
        monkeypatch.delenv(f"{prefix}_SECRET", raising=False)
    assert sign_in.providers() == {}
    monkeypatch.setenv("GENIE_ORCID_CLIENT_ID", "APP-1")
    with pytest.raises(env.ConfigurationError, match="must be set together"):
        sign_in.providers()
    monkeypatch.setenv("GENIE_ORCID_SECRET", "hush")
    assert sign_in.providers()["orcid"]["APPS"] == [
        {"client_id": "APP-1", "secret": "hush"}
    ]


def test_forms_lead_to_providers_that_are_set_up_and_nowhere_else():
    assert "form-action 'self';" in policy()
    assert "form-action 'self' https://github.com;" in policy(["github"])
    assert "unsafe" not in policy(sign_in.KNOWN)
