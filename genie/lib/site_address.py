"""The site's address, in e-mails, in webhooks and in the output of commands.

By default it is the one at which `genie up` last started the site, so that commands
next to it print links that work.
"""

from pathlib import Path

from genie.lib import env

_DEFAULT = "http://localhost:8000"


def read(folder: Path) -> str:
    """Return the configured address, the stored one, or the default."""
    if named := env.text("GENIE_SITE_URL"):
        return named
    kept = _file(folder)
    return kept.read_text("utf-8") if kept.is_file() else _DEFAULT


def write_down(folder: Path, address: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _file(folder).write_text(address, "utf-8")


def _file(folder: Path) -> Path:
    return folder / "address"
