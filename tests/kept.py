"""Rows that many tests begin with, made once: a campaign that is over, a published score.

Each test still has them in its own transaction and may change them. The first to ask
makes them as the product does; for the others what this changed in the tables is put
there again, with all times moved to now, and files beside it. The processes of one run
share what one of them made; while it is made, those that ask for the same wait. On
PostgreSQL, where few of these tests run, the rows are made each time.
"""

import fcntl
import pickle
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import connection, models, transaction

# Rows by table and rowid, which is another name of a key that is a whole number.
Rows = dict[str, dict[object, tuple]]
# The last number that each table gave, in a row of its own.
NUMBERS = "sqlite_sequence"


class Change(NamedTuple):
    """What making did, with the models and keys of the rows that were asked for."""

    new: Rows
    set: dict[str, dict[object, dict[int, object]]]  # values of older rows by column
    gone: dict[str, list[object]]
    numbers: dict[object, tuple]
    files: Path
    made_at: datetime
    asked: list[tuple[type[models.Model], object]]
    alone: bool


_COLUMNS: dict[str, list[str]] = {}


class Place:
    """Where the processes of this run keep what they made: set by tests/conftest.py."""

    folder: Path
    # make them as if nothing were kept
    anew = False


def keep_in(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    Place.folder = folder


def kept(name: str, make: Callable[[], object], given: object = None):
    """Give the row, or the rows, that `make` makes.

    They are the same for the same name, rows of the same keys before, and the same
    `given`: what the rows before say, as far as it matters.
    """
    if connection.vendor != "sqlite" or Place.anew:
        return make()
    before = _rows()
    key = (name, repr(given), repr([list(by_key) for by_key in before.values()]))
    folder = Place.folder / sha256(repr(key).encode()).hexdigest()
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "rows").exists():
            made = make()
            alone = isinstance(made, models.Model)
            asked = [made] if alone else list(made)
            change = _change(before, _rows(), asked, folder / "media", alone=alone)
            (folder / "rows").write_bytes(pickle.dumps(change))
            return made
    return _make_again(pickle.loads((folder / "rows").read_bytes()))


def _rows() -> Rows:
    connection.ensure_connection()
    raw = connection.connection
    found: Rows = {}
    for table in connection.introspection.table_names():
        rows = raw.execute(f'select rowid, * from "{table}"').fetchall()
        found[table] = {row[0]: tuple(row[1:]) for row in rows}
    return found


def _numbers() -> dict[object, tuple]:
    rows = connection.connection.execute(f"select name, seq from {NUMBERS}").fetchall()
    return {name: (name, last) for name, last in rows}


def _change(before: Rows, after: Rows, made, files: Path, *, alone: bool) -> Change:
    if Path(settings.MEDIA_ROOT).exists():
        shutil.copytree(settings.MEDIA_ROOT, files, dirs_exist_ok=True)
    new: Rows = {}
    changed: dict[str, dict[object, dict[int, object]]] = {}
    for table, rows in after.items():
        old = before[table]
        new[table] = {key: row for key, row in rows.items() if key not in old}
        changed[table] = {
            key: {n: value for n, value in enumerate(row) if value != old[key][n]}
            for key, row in rows.items()
            if key in old and row != old[key]
        }
    gone = {
        table: [k for k in rows if k not in after[table]]
        for table, rows in before.items()
    }
    asked = [(type(row), row.pk) for row in made]
    return Change(new, changed, gone, _numbers(), files, datetime.now(), asked, alone)


def _make_again(this: Change):
    raw = connection.connection
    passed = datetime.now() - this.made_at
    with transaction.atomic():
        for table, keys in this.gone.items():
            raw.executemany(
                f'delete from "{table}" where rowid = ?', [(key,) for key in keys]
            )
        # What was put aside first: only one row may be the newest of its kind.
        for table, rows in this.set.items():
            for key, values in rows.items():
                columns = ", ".join(f'"{_columns(table)[n]}" = ?' for n in values)
                moved = [_later(value, passed) for value in values.values()]
                raw.execute(
                    f'update "{table}" set {columns} where rowid = ?', [*moved, key]
                )
        for table, rows in this.new.items():
            columns = ", ".join(f'"{name}"' for name in ["rowid", *_columns(table)])
            marks = ", ".join("?" * (len(_columns(table)) + 1))
            raw.executemany(
                f'insert into "{table}" ({columns}) values ({marks})',
                [(key, *(_later(v, passed) for v in row)) for key, row in rows.items()],
            )
        _number_on(raw, this.numbers)
    if this.files.exists():
        shutil.copytree(this.files, settings.MEDIA_ROOT, dirs_exist_ok=True)
    found = [model._base_manager.get(pk=pk) for model, pk in this.asked]
    return found[0] if this.alone else tuple(found)


def _number_on(raw, numbers: dict[object, tuple]) -> None:
    raw.executemany(f"delete from {NUMBERS} where name = ?", [(n,) for n in numbers])
    raw.executemany(f"insert into {NUMBERS} values (?, ?)", list(numbers.values()))


def _columns(table: str) -> list[str]:
    if table not in _COLUMNS:
        told = connection.connection.execute(f'pragma table_info("{table}")')
        _COLUMNS[table] = [column[1] for column in told]
    return _COLUMNS[table]


def _later(value: object, passed: timedelta) -> object:
    return value + passed if isinstance(value, datetime) else value
