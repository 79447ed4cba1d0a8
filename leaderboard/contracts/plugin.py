"""A pytest plugin: `pytest --genie-extensions` tests all external pieces."""

import os
import tempfile
from pathlib import Path

import pytest

_TESTS = Path(__file__).with_name("outside_pieces.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("genie").addoption(
        "--genie-extensions",
        action="store_true",
        help="test the Genie extensions that are installed or in GENIE_EXTENSIONS",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Set Genie up in a temporary folder and add the tests to those selected."""
    if not config.getoption("genie_extensions"):
        return
    os.environ.setdefault("GENIE_VAR", tempfile.mkdtemp(prefix="genie-extensions-"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "genie.settings")
    import django

    django.setup()
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    config.args[:] = [*(config.args if named else []), str(_TESTS)]
