import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from genie.lib import keys
from genie.lib.unguessable import fingerprint
from genie.upkeep import engines, uploads
from genie.upkeep.archive import BackupProblem, Writer, open_writer

DATABASE, KEYS, UPLOADS = "database", "keys/", "media/"
_TELL_EVERY = 1_000


def backup(path: Path, *, with_key: bool, say: Callable[[str], None]) -> None:
    """Write everything into a new file, while the site may run.

    The database comes first, then the uploads: those are named by their content and
    never changed, so the later copy has every file that the database refers to.
    """
    engines.require_programs()
    if engines.is_empty():
        raise BackupProblem(
            "The database has no tables, so there is no data to back up."
        )
    try:
        with open_writer(path) as archive:
            _add_database(archive, path.parent, say)
            _add_uploads(archive, say)
            if with_key:
                for name, lines in site_keys().items():
                    text = "\n".join(lines).encode()
                    archive.add(f"{KEYS}{name}", io.BytesIO(text), len(text))
            archive.finish(_facts())
    except OSError as error:
        raise BackupProblem(
            f"{path} cannot be written: {error.strerror or error}."
        ) from error


def site_keys() -> dict[str, list[str]]:
    return {name: keys.values(name) for name in keys.VARIABLES}


def applied_migrations() -> list[list[str]]:
    return sorted(
        [app, n] for app, n in MigrationRecorder(connection).applied_migrations()
    )


def _facts() -> dict[str, Any]:
    return {
        "genie": settings.VERSION,
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "engine": connection.vendor,
        "migrations": applied_migrations(),
        "keys": {name: fingerprint(one[0]) for name, one in site_keys().items()},
        # by name only: their values are secrets, or paths of this machine
        "settings": sorted(n for n in os.environ if n.startswith("GENIE_")),
    }


def _add_database(archive: Writer, folder: Path, say: Callable[[str], None]) -> None:
    say(f"copying the database ({connection.vendor})")
    # In the backup's folder, which needs room anyway.
    with tempfile.TemporaryDirectory(prefix=".genie-backup-", dir=folder) as name:
        copy = Path(name) / DATABASE
        engines.dump(copy)
        size = copy.stat().st_size
        say(f"packing the database ({size / 1e6:,.1f} MB)")
        with copy.open("rb") as stream:
            archive.add(DATABASE, stream, size)


def _add_uploads(archive: Writer, say: Callable[[str], None]) -> None:
    n = gone = 0
    for name in uploads.names():
        try:
            with default_storage.open(name) as file:
                archive.add(f"{UPLOADS}{name}", file, file.size)
        except FileNotFoundError:  # of a draft that was deleted meanwhile
            gone += 1
            continue
        n += 1
        if n % _TELL_EVERY == 0:
            say(f"packing uploads: {n:,}")
    say(f"uploads packed: {n:,}")
    if gone:
        say(f"uploads of drafts deleted in the meantime: {gone:,}")
