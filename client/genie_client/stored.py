"""The site and token that `login` stores in a file that only its owner can read."""

from __future__ import annotations

import json
import os
from pathlib import Path

from genie_client.problem import Problem


def config_file() -> Path:
    """Return its path: GENIE_CONFIG, or the usual configuration folder."""
    if named := os.environ.get("GENIE_CONFIG"):
        return Path(named)
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "genie" / "client.json"


def read() -> dict[str, str]:
    """Return the stored `site` and `token`, if any."""
    file = config_file()
    try:
        kept = json.loads(file.read_text("utf-8"))
        return {name: str(kept[name]) for name in ("site", "token") if kept.get(name)}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise Problem(
            f"{file} cannot be read; run login again.", code="bad-config"
        ) from error


def keep(site: str, token: str) -> Path:
    """Write them down; the file is its owner's alone from its first byte on."""
    file = config_file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.new")
    new.unlink(missing_ok=True)
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        json.dump({"site": site, "token": token}, out, indent=2)
    new.replace(file)
    return file


def forget() -> bool:
    """Delete them; return False if there were none."""
    file = config_file()
    there = file.exists()
    file.unlink(missing_ok=True)
    return there
