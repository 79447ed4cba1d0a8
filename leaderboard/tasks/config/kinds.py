"""The kinds of values in task.toml, and the messages for values that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a task.toml.

    `key` has dots (``human.reward_cents``); `sentence` is read after the key.
    """

    key: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.key}: {self.sentence}"


@dataclass(frozen=True)
class Place:
    """A place in the document, and the list to which its problems are added."""

    key: str
    problems: list[Problem]

    def below(self, name: str) -> Place:
        return Place(f"{self.key}.{name}" if self.key else name, self.problems)

    def wrong(self, sentence: str) -> None:
        self.problems.append(Problem(self.key, sentence))


@dataclass(frozen=True)
class Kind(Generic[T_co]):
    """A kind of value for a key.

    `what` describes it, as in "a whole number of at least 1". `read` returns the value,
    or None if it cannot be read, and adds problems to the place. `empty` is the value
    of a required key that is missing.
    """

    what: str
    read: Callable[[object, Place], T_co | None]
    empty: T_co


def scalar(
    what: str,
    is_right: Callable[[object], bool],
    convert: Callable[[object], T],
    empty: T,
) -> Kind[T]:
    """Create a kind of single values.

    `convert` is tried on wrong values, too: a number written as a text is read and
    reported as a problem.

    Examples
    --------
    >>> problems = []
    >>> size = scalar("a whole number", lambda value: type(value) is int, int, 0)
    >>> size.read("7", Place("human.sample_size", problems)), str(problems[0])
    (7, "human.sample_size: must be a whole number, not '7'.")
    """

    def read(value: object, place: Place) -> T | None:
        if is_right(value):
            return convert(value)
        place.wrong(f"must be {what}, not {value!r}.")
        try:
            return convert(value)
        except (TypeError, ValueError, OverflowError):
            return None

    return Kind(what, read, empty)


def text(at_most: int = 0, *, filled: bool = False) -> Kind[str]:
    """Create the kind of texts.

    `at_most` counts characters (0: no limit); `filled` refuses blank texts.
    """
    what = f"a text of at most {at_most} characters" if at_most else "a text"

    def is_right(value: object) -> bool:
        if not isinstance(value, str) or (filled and not value.strip()):
            return False
        return not at_most or len(value) <= at_most

    return scalar(what + (" that is not empty" if filled else ""), is_right, str, "")


def whole(at_least: int = 0, at_most: int | None = None) -> Kind[int]:
    """Create the kind of whole numbers within bounds."""
    what = (
        f"a whole number of at least {at_least}"
        if at_most is None
        else f"a whole number from {at_least} to {at_most}"
    )

    def is_right(value: object) -> bool:
        return (
            # Not `isinstance`: in Python True is an instance of int.
            type(value) is int
            and value >= at_least
            and (at_most is None or value <= at_most)
        )

    return scalar(what, is_right, _int, 0)


def share(*, open_ends: bool = False) -> Kind[float]:
    """Create the kind of shares from 0 to 1, without 0 and 1 if the ends are open."""

    def is_right(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return 0 < value < 1 if open_ends else 0 <= value <= 1

    between = "between 0 and 1" if open_ends else "from 0 to 1"
    return scalar(f"a number {between}, such as 0.9", is_right, _float, 0.0)


def truth() -> Kind[bool]:
    """Create the kind of true and false."""
    return scalar("true or false", lambda value: isinstance(value, bool), bool, False)


def one_of(known: Collection[T], empty: T) -> Kind[T]:
    """Create the kind of a few values; `empty` is one of them."""
    what = " or ".join(repr(value) for value in known)

    def read(value: object, place: Place) -> T | None:
        for choice in known:
            # In Python 1, 1.0 and True are equal; in a document they are different.
            if type(value) is type(choice) and value == choice:
                return choice
        place.wrong(f"must be {what}, not {value!r}.")
        return None

    return Kind(what, read, empty)


def names(of: str) -> Kind[tuple[str, ...]]:
    """Create the kind of lists of unique names."""

    def read(value: object, place: Place) -> tuple[str, ...] | None:
        if not isinstance(value, list | tuple):
            place.wrong(f"is not a list of {of}.")
            return None
        for name in value:
            if not isinstance(name, str):
                place.wrong(f"is a list of {of}, which are texts, and holds {name!r}.")
        entries = tuple(map(str, value))
        for name in sorted({name for name in entries if entries.count(name) > 1}):
            place.wrong(f"names {name!r} twice.")
        return entries

    return Kind(f"a list of {of}", read, ())


def free_table(of: str, kind: Kind[T]) -> Kind[Mapping[str, T]]:
    """Create the kind of tables with free keys and values of one kind."""

    def read(value: object, place: Place) -> Mapping[str, T] | None:
        if not isinstance(value, Mapping):
            place.wrong(f"must be a table of {of}, not {value!r}.")
            return None
        entries = {
            str(name): kind.read(entry, place.below(str(name)))
            for name, entry in value.items()
        }
        return {name: entry for name, entry in entries.items() if entry is not None}

    return Kind(f"a table of {of}", read, {})


def any_value() -> Kind[object]:
    """Create the kind of values that are checked elsewhere."""
    return Kind("a value", lambda value, _place: value, None)


def unknown_key(name: str, known: Collection[str]) -> str:
    """Return the message for an unknown key, with the nearest known one."""
    near = get_close_matches(name, known, n=1)
    if near:
        return f"there is no such key; did you mean {near[0]}?"
    return f"there is no such key; there are {', '.join(known)}."


def _int(value: object) -> int:
    if not isinstance(value, int | float | str):
        raise TypeError
    return int(value)


def _float(value: object) -> float:
    if not isinstance(value, int | float | str):
        raise TypeError
    return float(value)


# Tables of task.toml as frozen dataclasses: a field per key, with kind and default.
C = TypeVar("C")
_SETTING = "setting"
_MUST_BE_GIVEN: Any = object()


@dataclass(frozen=True)
class Setting(Generic[T]):
    """One key of a table, with its kind and where its value applies.

    [comparison] and [joint] do not inherit a `per_table` key from [human]. A
    `human_only` key is allowed in [human] only, and applies to all work of the task.
    """

    kind: Kind[T]
    required: bool
    default: T
    per_table: bool
    human_only: bool


def setting(
    kind: Kind[T],
    default: T = _MUST_BE_GIVEN,
    *,
    per_table: bool = False,
    human_only: bool = False,
) -> T:
    """Declare a key of a table; see `Setting`."""
    required = default is _MUST_BE_GIVEN
    declared = Setting(
        kind, required, kind.empty if required else default, per_table, human_only
    )
    # A factory, because dataclasses accept no dict as a default.
    default_field: T = field(
        default_factory=lambda: declared.default, metadata={_SETTING: declared}
    )
    return default_field


def settings_of(table: type[Any]) -> dict[str, Setting[Any]]:
    """List the keys of a table with their settings."""
    every: tuple[Field[Any], ...] = fields(table)
    return {key.name: key.metadata[_SETTING] for key in every}


def read_table(
    table: type[C], value: object, place: Place, *, inherits: object = None
) -> C:
    """Read a table and add its problems to the place.

    `table` is a dataclass whose fields are made by `setting`. Keys that are left out
    have the value of `inherits`, unless they are `per_table`. The result is complete,
    whatever is wrong.
    """
    known = settings_of(table)
    if not isinstance(value, Mapping):
        place.wrong(f"must be a table, not {value!r}.")
        if inherits is None:
            return table()
        # Missing keys are inherited, and the rest of the document is checked, too.
        value = {}
    for name in value:
        if name not in known:
            place.below(name).wrong(unknown_key(name, known))
    return table(
        **{
            name: _value(name, declared, value, place.below(name), inherits)
            for name, declared in known.items()
        }
    )


def _value(
    name: str,
    declared: Setting[Any],
    values: Mapping[str, object],
    place: Place,
    inherits: object,
) -> object:
    inherited = inherits is not None and not declared.per_table
    default = (
        getattr(inherits, name, declared.default) if inherited else declared.default
    )
    if name not in values:
        if declared.required and not inherited:
            place.wrong(f"is missing; it must be {declared.kind.what}.")
        return default
    if inherited and declared.human_only:
        place.wrong("is said in [human] only, for all work of the task.")
        return default
    value = declared.kind.read(values[name], place)
    return default if value is None else value


def table_of(table: type[C]) -> Kind[C]:
    """Create the kind of a table within another."""

    def read(value: object, place: Place) -> C | None:
        # reports what is no table
        config = read_table(table, value, place)
        return config if isinstance(value, Mapping) else None

    return Kind("a table", read, table())
