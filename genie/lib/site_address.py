"""The site's address, in e-mails, in webhooks and in the output of commands.

By default it is the one at which `genie up` last started the site, so that commands
next to it print links that work.
"""

import socket
from pathlib import Path

from genie.lib import env

OWN_MACHINE = {"127.0.0.1", "localhost", "::1", "[::1]"}
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


def network_host() -> str:
    """Return this machine's address on its network. No data is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # an address of documentation (RFC 5737), to choose the interface by
        probe.connect_ex(("192.0.2.1", 9))
        return str(probe.getsockname()[0])


def _file(folder: Path) -> Path:
    return folder / "address"
