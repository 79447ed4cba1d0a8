"""Consistent copies of the database during writes, and restoring from such a copy.

The engines do it: SQLite with its backup interface, PostgreSQL with `pg_dump` and
`pg_restore`. The restored copy replaces the present data in one step at the end.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from genie.lib.logs import one_line
from genie.upkeep.archive import BackupProblem

# The schema that holds PostgreSQL's old tables until the new ones are ready.
_ASIDE = "genie_before_restore"


def is_empty() -> bool:
    return not connection.introspection.table_names()


def dump(target: Path) -> None:
    if connection.vendor == "sqlite":
        try:
            with closing(_open(_sqlite_file())) as old, closing(_open(target)) as new:
                # All pages at once: page by page, each concurrent write would restart
                # it.
                old.backup(new, pages=-1)
        except sqlite3.Error as error:
            raise BackupProblem(f"The database cannot be copied: {error}.") from error
    else:
        _run(["pg_dump", "--format=custom", "--compress=1", "--no-owner",
              "--no-privileges", f"--file={target}"])  # fmt: skip


@contextlib.contextmanager
def working_copy() -> Iterator[None]:
    """Read and write a copy of the database that is dropped afterwards.

    SQLite has one lock for all: a study in the site's own file would block its writers.
    PostgreSQL undoes the transaction instead.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        with transaction.atomic():
            yield
            transaction.set_rollback(True)
        return
    name = connection.settings_dict["NAME"]
    with tempfile.TemporaryDirectory() as folder:
        dump(Path(folder) / "copy.sqlite3")
        connection.close()
        connection.settings_dict["NAME"] = Path(folder) / "copy.sqlite3"
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict["NAME"] = name


def bring_back(copy: Path) -> None:
    """Replace the database by the copy; all or nothing."""
    connection.close()
    if connection.vendor == "sqlite":
        _replace_sqlite(copy)
        return
    with _old_tables_aside():
        _run(["pg_restore", "--no-owner", "--no-privileges", "--exit-on-error",
              "--single-transaction", str(copy)])  # fmt: skip


def require_programs() -> None:
    """Refuse at once if PostgreSQL's own programs are missing."""
    missing = [name for name in ("pg_dump", "pg_restore") if not shutil.which(name)]
    if connection.vendor != "sqlite" and missing:
        raise BackupProblem(
            f"{' and '.join(missing)} of PostgreSQL cannot be found on the PATH; on "
            "Debian and Ubuntu: apt-get install postgresql-client."
        )


def staging_folder() -> Path | None:
    """Return the folder from which a copy can replace the database; None: any."""
    return _sqlite_file().parent if connection.vendor == "sqlite" else None


def _sqlite_file() -> Path:
    return Path(connection.get_connection_params()["database"]).resolve()


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=60)


def _replace_sqlite(copy: Path) -> None:
    with closing(_open(copy)) as found:
        (verdict,) = found.execute("pragma quick_check(1)").fetchone()
        # the site's own setting, set here so that no file stays next to the copy
        found.execute("pragma journal_mode=delete")
    if verdict != "ok":
        raise BackupProblem(f"The copy of the database is damaged: {verdict}.")
    place = _sqlite_file()
    if place.exists():
        _end_log(place)
    copy.replace(place)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _end_log(place: Path) -> None:
    try:
        with closing(_open(place)) as old:
            old.execute("pragma wal_checkpoint(truncate)")
            old.execute("pragma journal_mode=delete")
    except sqlite3.OperationalError as error:
        raise BackupProblem(
            f"The database cannot be replaced: {error}. Stop the site and its queue, "
            "and run the same command again."
        ) from error
    except sqlite3.DatabaseError:  # too damaged to be read, which is why it is restored
        for ending in ("-wal", "-shm"):
            place.with_name(f"{place.name}{ending}").unlink(missing_ok=True)


@contextlib.contextmanager
def _old_tables_aside() -> Iterator[None]:
    old = _quoted_schema()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("select 1 from pg_namespace where nspname = %s", [_ASIDE])
        if cursor.fetchone():  # the remains of a killed restore are worthless
            cursor.execute(f"drop schema {old} cascade")
        else:
            cursor.execute(f"alter schema {old} rename to {_ASIDE}")
        cursor.execute(f"create schema {old}")
    try:
        yield
    except BaseException:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"drop schema {old} cascade")
            cursor.execute(f"alter schema {_ASIDE} rename to {old}")
        raise
    with connection.cursor() as cursor:
        cursor.execute(f"drop schema {_ASIDE} cascade")
    connection.close()


def _quoted_schema() -> str:
    with connection.cursor() as cursor:
        cursor.execute("select current_schema()")
        (name,) = cursor.fetchone()
    # missing if a killed restore had renamed it
    return connection.ops.quote_name(name or "public")


def _run(command: list[str]) -> None:
    found = connection.get_connection_params()
    asked: dict[str, Any] = {
        "PGDATABASE": found.get("dbname") or connection.settings_dict["NAME"],
        "PGHOST": found.get("host"),
        "PGPORT": found.get("port"),
        "PGUSER": found.get("user"),
        "PGPASSWORD": found.get("password"),
        "PGSSLMODE": found.get("sslmode"),
        "PGSSLROOTCERT": found.get("sslrootcert"),
        "PGCONNECT_TIMEOUT": found.get("connect_timeout"),
    }
    if command[0] == "pg_restore":  # without it, it only prints
        command = [*command, "--dbname", str(asked["PGDATABASE"])]
    done = subprocess.run(  # noqa: S603 - our own words
        command,
        env={**os.environ, **{k: str(v) for k, v in asked.items() if v}},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise BackupProblem(f"{command[0]} failed: {one_line(done.stderr, 600)}")
