from __future__ import annotations

import errno
import json
import sqlite3
import sys
from collections.abc import Callable, Hashable
from contextlib import suppress
from copy import copy
from functools import lru_cache, partial
from smtplib import SMTPException
from threading import get_ident
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django import forms
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    OperationalError,
    connection,
    connections,
    models,
    transaction,
)
from django.db.backends.sqlite3.base import SQLiteCursorWrapper
from django.db.models import Value
from django.db.models.expressions import RawSQL

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models import Model, QuerySet

Row = TypeVar("Row")
AnyModel = TypeVar("AnyModel", bound=models.Model)

NOT_RESPONDING = "Our database is not responding. Everything you saved is still there. Please try again in a minute."
BUSY = (
    "Our database is busy. Your last change was not saved; everything you saved before "
    "is still there. Please try again in a minute."
)
NOT_STORING = (
    "Our server cannot store anything right now. Your last change was not saved. "
    "Everything you saved before is still there. Please try again later."
)
NOT_MAILING = (
    "Our mail server is not responding, so the e-mail to you could not be sent. Please "
    "try again in a few minutes. If you have just signed up, sign in then: the e-mail "
    "is sent again."
)
_OF_FILES = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO}
_LOCKED_IN_SQLITE = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_LOCKED_IN_POSTGRESQL = "55P03"  # lock_not_available
_OF_SQLITE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY}
# https://www.postgresql.org/docs/current/errcodes-appendix.html: disk_full, io_error
_OF_POSTGRESQL = {"53100", "58030"}
# connection_exception, admin_shutdown, crash_shutdown, cannot_connect_now
_OF_CONNECTIONS = ("08", "57P01", "57P02", "57P03")


def unavailable(error: BaseException | None) -> str:
    """Return in words why the site is unavailable; empty if the code is at fault."""
    if database_is_down(error) or cache_is_down(error):
        return NOT_RESPONDING
    if isinstance(error, SMTPException):
        return NOT_MAILING
    if is_locked(error):
        return BUSY
    return NOT_STORING if disk_is_full(error) else ""


def cache_is_down(error: BaseException | None) -> bool:
    # Its package is an extra; without it there are no such errors.
    errors: Any = sys.modules.get("redis.exceptions")
    return errors is not None and isinstance(
        error, errors.ConnectionError | errors.TimeoutError
    )


def is_locked(error: BaseException | None) -> bool:
    cause = getattr(error, "__cause__", None)
    return isinstance(error, DatabaseError) and (
        getattr(cause, "sqlite_errorcode", 0) & 0xFF in _LOCKED_IN_SQLITE
        or getattr(cause, "sqlstate", None) == _LOCKED_IN_POSTGRESQL
    )


def best_effort(write: Callable[[], Any]) -> None:
    """Drop a write that would have to wait for a lock, so that reading never waits."""
    # also if the database cannot be reached: the response to the request reports it
    with suppress(DatabaseError):
        if connection.vendor != "sqlite":
            with transaction.atomic():
                connection.cursor().execute("SET LOCAL lock_timeout = '50ms'")
                write()
            return
        try:
            _set_wait_of_sqlite(0)
            write()
        finally:
            _set_wait_of_sqlite(connection.settings_dict["OPTIONS"]["timeout"])


def _set_wait_of_sqlite(seconds: float) -> None:
    connection.ensure_connection()
    # a setting of the driver, not a query
    connection.connection.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")


class _Cursor(SQLiteCursorWrapper):
    def __init__(self, left: list[_Cursor], raw: sqlite3.Connection) -> None:
        super().__init__(raw)
        self._left = left
        self._thread = get_ident()

    def __del__(self) -> None:
        if get_ident() != self._thread:
            self._left.append(self)


def close_cursors_in_their_thread(
    connection: BaseDatabaseWrapper, **_given: Any
) -> None:
    """Leave a cursor that another thread's garbage collection finds to its own thread.

    While SQLite waits for its lock, it holds a mutex of the connection. The thread with
    the lock would wait for that mutex to close the cursor, until the timeout. Worse, it
    clears the connection's error, and `sqlite3` then takes the statement that was
    refused for done: its write is lost without an error.
    """
    if connection.vendor == "sqlite":
        raw: sqlite3.Connection = connection.connection
        left: list[_Cursor] = []

        def create_cursor(_name: str | None = None) -> _Cursor:
            left.clear()
            return raw.cursor(partial(_Cursor, left))

        setattr(connection, "create_cursor", create_cursor)  # noqa: B010  mypy refuses


def disk_is_full(error: BaseException | None) -> bool:
    """Check whether an error is due to a full or read-only disk."""
    if isinstance(error, DatabaseError):
        cause = error.__cause__
        code = getattr(cause, "sqlite_errorcode", None)
        return (code is not None and code & 0xFF in _OF_SQLITE) or getattr(
            cause, "sqlstate", None
        ) in _OF_POSTGRESQL
    return isinstance(error, OSError) and error.errno in _OF_FILES


def database_is_down(error: BaseException | None) -> bool:
    """Check whether an error is due to an unreachable database.

    If the connection still works, the query or a lock was at fault, unless the
    connection is new, made after the server had ended the old one.
    """
    if not isinstance(error, InterfaceError | OperationalError):
        return False
    # Only PostgreSQL's errors have it; without a code, no server sent them.
    code = getattr(error.__cause__, "sqlstate", "")
    if code is None or code.startswith(_OF_CONNECTIONS):
        return True
    return connection.connection is None or not connection.is_usable()


def count_anew(*models: type[Model]) -> None:
    """Let PostgreSQL analyze tables with many new rows, after the commit.

    It does so automatically after a minute or more, and until then plans as if they
    were empty: counting the work left for a worker then takes .17 s instead of .003.
    """
    if connection.vendor == "postgresql":
        transaction.on_commit(partial(_analyze, *models), robust=True)


def _analyze(*models: type[Model]) -> None:
    with connection.cursor() as cursor:
        for model in models:
            table = connection.ops.quote_name(model._meta.db_table)
            cursor.execute(f"ANALYZE {table}")


class Parameter(Value):
    # The place of an argument in a query that `prepare` writes.
    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]


class prepare(Generic[Row]):
    """Let Django write the SQL of a query once per process, not at each call.

    `build` gets a `Parameter` for each positional argument but None, to be compared
    with columns; the arguments are integers or strings that we have stored.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Row]]) -> None:
        # Writing takes up to 4 ms of the processor, running .1. The text may depend on
        # the named arguments, which take few values, but not on the time. Rows are
        # never kept.
        @lru_cache(maxsize=32)
        def write(_vendor: str, blank: tuple[bool, ...], **shape: Hashable) -> Any:
            places = (None if no else Parameter(i) for i, no in enumerate(blank))
            rows = build(*places, **shape)
            compiler = rows.query.get_compiler(DEFAULT_DB_ALIAS)
            return rows, compiler, *compiler.as_sql()

        self._write = write

    def _bind(self, *values: int | str | None, **shape: Hashable) -> Any:
        blank = tuple(value is None for value in values)
        rows, compiler, sql, places = self._write(connection.vendor, blank, **shape)
        params = tuple(
            values[place.value] if isinstance(place, Parameter) else place
            for place in places
        )
        return rows, compiler, sql, params

    def __call__(self, *values: int | str | None, **shape: Hashable) -> list[Row]:
        rows, written, sql, params = self._bind(*values, **shape)
        compiler = copy(written)
        compiler.connection = connections[DEFAULT_DB_ALIAS]
        compiler.as_sql = lambda: (sql, params)
        rows = rows.all()
        rows.query.get_compiler = lambda *_using, **_given: compiler
        return list(rows)

    def finds_any(self, *values: int | str | None, **shape: Hashable) -> RawSQL:
        """Return the condition that the query finds a row, for another statement."""
        *_, sql, params = self._bind(*values, **shape)
        return RawSQL(f"EXISTS ({sql})", params, models.BooleanField())  # noqa: S611


if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

    Field = models.Field[Any, Any]
else:
    Field = models.Field


class OrderedJSONField(Field):
    """A JSON object whose order of keys matters, stored as text.

    PostgreSQL's own type sorts keys by their length. Such a field cannot be searched by
    its content.
    """

    def get_internal_type(self) -> str:
        return "TextField"

    def get_prep_value(self, value: Any) -> str | None:
        value = super().get_prep_value(value)
        return None if value is None else json.dumps(value, ensure_ascii=False)

    def from_db_value(
        self, value: str | None, _expression: Any, _connection: BaseDatabaseWrapper
    ) -> Any:
        return None if value is None else json.loads(value)

    def value_to_string(self, obj: models.Model) -> Any:
        return self.value_from_object(obj)

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"form_class": forms.JSONField, **kwargs})


class Subset(models.Manager[AnyModel]):
    """A model's rows that fit some conditions.

    As a default manager, it needs `related_name="+"`: accessors ignore conditions.
    """

    def __init__(self, **conditions: Any) -> None:
        super().__init__()
        self.conditions = conditions

    def get_queryset(self) -> QuerySet[AnyModel]:
        return super().get_queryset().filter(**self.conditions)
