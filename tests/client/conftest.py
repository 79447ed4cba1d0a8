import os
import sys
from pathlib import Path

import pytest

from genie.accounts import tokens
from genie.accounts.models import AccessToken

CLIENT = Path(__file__).resolve().parent.parent.parent / "client"
# As a checkout has it; that it installs alone is a test of its own.
sys.path.insert(0, str(CLIENT))


@pytest.fixture
def secret(request):
    owner = request.getfixturevalue("submitter")
    scopes = [AccessToken.Scope.READ, AccessToken.Scope.SUBMIT]
    return tokens.issue(owner, name="client", scopes=scopes, days=None)[1]


@pytest.fixture
def run(live_server, secret, capsys, monkeypatch, tmp_path):
    """Run a command as a person would; give exit code, output and errors."""
    from genie_client.command import main

    def run_(*arguments, token=secret):
        monkeypatch.setenv("GENIE_SITE", live_server.url)
        # never what somebody has kept on this machine
        if "GENIE_CONFIG" not in os.environ:
            monkeypatch.setenv("GENIE_CONFIG", str(tmp_path / "none.json"))
        monkeypatch.setenv("GENIE_TOKEN", token or "")
        code = main([str(one) for one in arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run_
