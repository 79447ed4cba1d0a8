"""Tables of task.toml as frozen dataclasses: a field per key, with kind and default."""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Generic, TypeVar

from leaderboard.tasks.config.kinds import Kind, Place, unknown_key

T = TypeVar("T")
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
    """Declare a key of a table; see `Setting`.

    Examples
    --------
    >>> from leaderboard.tasks.config.kinds import whole
    >>> @dataclass(frozen=True)
    ... class Quota:
    ...     days: int = setting(whole(1), 7)
    >>> Quota().days
    7
    """
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
    """Create the kind of a table within another.

    Examples
    --------
    >>> from leaderboard.tasks.config import QuotaConfig
    >>> table_of(QuotaConfig).what
    'a table'
    """

    def read(value: object, place: Place) -> C | None:
        config = read_table(table, value, place)
        return config if isinstance(value, Mapping) else None

    return Kind("a table", read, table())
