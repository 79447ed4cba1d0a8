"""Rows in bulk: COPY on PostgreSQL, long INSERTs on SQLite.

A table is given column by column. What is not given has the model's default. Indexes
other than primary keys are made after the rows, and nothing is looked up meanwhile.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, repeat
from typing import Any

from django.db import connection, models
from django.utils import timezone

AT_ONCE = 50_000
Column = Sequence[Any] | range


def fill(model: type[models.Model], n: int, /, **columns: Any) -> None:
    """Write `n` rows; a list or range has a value for each, anything else is for all."""
    fields = [field for field in model._meta.concrete_fields if field.column]
    given = [_values(field, columns, n) for field in fields]
    unknown = columns.keys() - {field.attname for field in fields}
    if unknown:
        raise ValueError(f"{model.__name__} has no {sorted(unknown)}")
    if connection.vendor == "postgresql":
        _copy(model, fields, given)
    else:
        _insert(model, fields, given)


def _values(field: Any, columns: Mapping[str, Any], n: int) -> Iterable[Any]:
    if field.attname in columns:
        value = columns[field.attname]
    elif field.primary_key:
        value = range(1, n + 1)
    elif getattr(field, "auto_now_add", False):
        value = timezone.now()
    else:
        value = field.get_default()
    of_json = isinstance(field, models.JSONField)
    if isinstance(value, range) or (isinstance(value, list) and not of_json):
        assert len(value) == n, (field, len(value), n)
        return value
    if of_json and value is not None:
        value = json.dumps(value)
    elif isinstance(value, str):
        value = str(value)
    return repeat(value, n)


def _as_text(value: Any) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, str):
        return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    return str(value)


def _copy(model: Any, fields: list[Any], columns: list[Iterable[Any]]) -> None:
    # what is the same in every row is written as text once
    texts = [
        repeat(_as_text(next(column)))
        if isinstance(column, repeat)
        else map(_as_text, column)
        for column in columns
    ]
    lines = map("\t".join, zip(*texts, strict=False))
    names = ", ".join(f'"{field.column}"' for field in fields)
    table = model._meta.db_table
    statement = f'COPY "{table}" ({names}) FROM STDIN'
    with connection.cursor() as cursor, cursor.cursor.copy(statement) as copy:
        while some := list(islice(lines, AT_ONCE)):
            copy.write("\n".join(some) + "\n")


def _insert(model: Any, fields: list[Any], columns: list[Iterable[Any]]) -> None:
    def stored(field: Any, column: Iterable[Any]) -> Iterable[Any]:
        if not isinstance(column, repeat):
            return column
        value = next(column)
        if not isinstance(field, models.JSONField):
            value = field.get_db_prep_save(value, connection)
        return repeat(value)

    kept = [stored(f, c) for f, c in zip(fields, columns, strict=True)]
    rows = zip(*kept, strict=False)
    names = ", ".join(f'"{field.column}"' for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    insert = f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({marks})'
    with connection.cursor() as cursor:
        while some := list(islice(rows, AT_ONCE)):
            cursor.executemany(insert, some)


@contextmanager
def loading(tables: Sequence[type[models.Model]]) -> Iterator[None]:
    """Take the tables' indexes away meanwhile; make them, numbers and figures after."""
    vendor = connection.vendor
    with connection.cursor() as cursor:
        if vendor == "postgresql":
            cursor.execute("SET session_replication_role = replica")
            cursor.execute("SET synchronous_commit = off")
            cursor.execute("SET maintenance_work_mem = '1GB'")
            # checkpoints in the middle of it would write every page twice
            cursor.execute("ALTER SYSTEM SET max_wal_size = '16GB'")
            # so that one process does all that is measured
            cursor.execute("ALTER SYSTEM SET max_parallel_workers_per_gather = 0")
            cursor.execute("SELECT pg_reload_conf()")
            again = _without_indexes(cursor, tables)
        else:
            cursor.execute("PRAGMA foreign_keys = OFF")
            cursor.execute("PRAGMA synchronous = OFF")
            again = _without_indexes_of_sqlite(cursor, tables)
        yield
        for statement in again:
            cursor.execute(statement)
        if vendor == "postgresql":
            from django.core.management.color import no_style

            for sql in connection.ops.sequence_reset_sql(no_style(), list(tables)):
                cursor.execute(sql)
            cursor.execute("SET session_replication_role = DEFAULT")
            cursor.execute("RESET synchronous_commit")
            # what autovacuum would have done in years
            cursor.execute("VACUUM ANALYZE")
        else:
            cursor.execute("PRAGMA foreign_keys = ON")
            cursor.execute("ANALYZE")


def _without_indexes(cursor: Any, tables: Sequence[Any]) -> list[str]:
    names = [model._meta.db_table for model in tables]
    cursor.execute(
        """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint
        WHERE contype = 'u' AND conrelid::regclass::text = ANY(%s)
        AND NOT EXISTS (
            SELECT 1 FROM pg_constraint f WHERE f.contype = 'f'
            AND f.conindid = pg_constraint.conindid
        )
        """,
        [names],
    )
    again = []
    for table, name, definition in cursor.fetchall():
        cursor.execute(f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"')
        again.append(f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" {definition}')
    cursor.execute(
        """
        SELECT indexname, indexdef FROM pg_indexes
        WHERE tablename = ANY(%s) AND NOT EXISTS (
            SELECT 1 FROM pg_constraint WHERE conname = indexname
        )
        """,
        [names],
    )
    for name, definition in cursor.fetchall():
        cursor.execute(f'DROP INDEX "{name}"')
        again.append(definition)
    return again


def _without_indexes_of_sqlite(cursor: Any, tables: Sequence[Any]) -> list[str]:
    again = []
    for model in tables:
        cursor.execute(
            "SELECT name, sql FROM sqlite_master "
            "WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = %s",
            [model._meta.db_table],
        )
        for name, definition in cursor.fetchall():
            cursor.execute(f'DROP INDEX "{name}"')
            again.append(definition)
    return again
