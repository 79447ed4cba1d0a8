"""Restore a site from a backup: all checks come first, and the database last.

Until the database is replaced, the site is as empty as before. A killed restore leaves
only uploads, named by their content, and the same command continues from there.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from genie.lib import env, keys
from genie.lib.errors import error_sentence
from genie.lib.queue.locks import lock_supervisor
from genie.lib.unguessable import fingerprint
from genie.upkeep import archive, engines, uploads
from genie.upkeep.archive import BackupProblem
from genie.upkeep.backup import DATABASE, KEYS, UPLOADS, site_keys

_TELL_EVERY = 1_000


def restore(
    path: Path, *, replace: bool, other_key: bool, say: Callable[[str], None]
) -> None:
    """Restore a site from a file; refused if the site is not empty or does not fit."""
    engines.require_programs()
    say(f"checking {path}")
    manifest = archive.checked_manifest(path)
    _refuse_what_does_not_fit(path, manifest)
    puts = {name for name in keys.VARIABLES if _puts_key(name, manifest)}
    if not other_key:
        _refuse_another_key(
            {n: one for n, one in manifest["keys"].items() if n not in puts}
        )
    with lock_supervisor():  # no queue runs here meanwhile
        if not replace:
            _refuse_what_is_there(manifest)
        mark().write_text(json.dumps(_identity(manifest)), "utf-8")
        try:
            _bring_back(path, manifest, say, puts)
        except (OSError, SuspiciousOperation) as error:
            raise BackupProblem(
                f"The backup cannot be restored here. {error_sentence(error).rstrip('.')}. "
                "The database is unchanged. Fix the problem and run the same command again."
            ) from error
        mark().unlink()


def mark() -> Path:
    """Return the file that exists while a restore is not finished."""
    return settings.VAR_DIR / "restoring"


def _identity(manifest: dict[str, Any]) -> Any:
    return [manifest["made_at"], manifest["files"][DATABASE]["sha256"]]


def _refuse_what_does_not_fit(path: Path, manifest: dict[str, Any]) -> None:
    if manifest["engine"] != connection.vendor:
        raise BackupProblem(
            f"{path} was made on {manifest['engine']}, but DATABASE_URL names a "
            f"{connection.vendor} database."
        )
    known = set(MigrationLoader(None).disk_migrations)
    apps = {app for app, _ in known}
    # Sign-in providers depend on the settings, and have their own apps.
    newer = [
        (a, n) for a, n in manifest["migrations"] if a in apps and (a, n) not in known
    ]
    if newer:
        raise BackupProblem(
            f"{path} was made by a newer version of Genie ({manifest['genie']}). This "
            f"version does not have the migration {'.'.join(newer[0])}. Install the "
            "newer version."
        )


def _puts_key(name: str, manifest: dict[str, Any]) -> bool:
    in_file = not env.text(keys.VARIABLES[name])
    return in_file and f"{KEYS}{name}" in manifest["files"]


def _refuse_another_key(fingerprints: dict[str, str]) -> None:
    own = {name: [*map(fingerprint, lines)] for name, lines in site_keys().items()}
    for name, one in fingerprints.items():
        if one in own[name]:
            continue
        raise BackupProblem(
            f"This site's {name} key differs from the backup's "
            f"({own[name][0]}, not {one}). Set the "
            f"old key, as {keys.VARIABLES[name]} or as its file in GENIE_VAR, or "
            "use --other-key. This signs out all users, invalidates requesters' "
            "access keys, e-mailed links and completion codes, and gives workers new "
            "pseudonyms in the next release."
        )


def _refuse_what_is_there(manifest: dict[str, Any]) -> None:
    begun = mark().exists() and json.loads(mark().read_text("utf-8"))
    there = [] if engines.is_empty() else ["a database with tables"]
    if uploads.any_there() and begun != _identity(manifest):
        there.append("uploads")
    if there:
        raise BackupProblem(
            f"This site already has data: {' and '.join(there)}. Back it up, then use "
            "--replace to put the backup in its place."
        )


def _bring_back(
    path: Path,
    manifest: dict[str, Any],
    say: Callable[[str], None],
    puts: Collection[str],
) -> None:
    with tempfile.TemporaryDirectory(
        prefix=".genie-restore-", dir=engines.staging_folder()
    ) as folder:
        copy, n, found = Path(folder) / DATABASE, 0, {}
        for name, stream, size in archive.members(path):
            if name == DATABASE:
                say(f"unpacking the database ({size / 1e6:,.1f} MB)")
                _write(copy, stream)
            elif name.startswith(KEYS):
                found[name.removeprefix(KEYS)] = stream.read().decode().splitlines()
            elif name.startswith(UPLOADS):
                sha256 = manifest["files"][name]["sha256"]
                uploads.put(name.removeprefix(UPLOADS), stream, size, sha256)
                n += 1
                if n % _TELL_EVERY == 0:
                    say(f"unpacking uploads: {n:,}")
        say(f"uploads unpacked: {n:,}; replacing the database")
        for name in sorted(puts):
            if place := keys.path_of(name):
                keys.write(place, found[name])
                say(f"the {name} key is now in {place}")
        engines.bring_back(copy)


def _write(path: Path, stream: IO[bytes]) -> None:
    with path.open("xb") as file:
        path.chmod(0o600)
        shutil.copyfileobj(stream, file, 1 << 20)
        file.flush()
        os.fsync(file.fileno())
