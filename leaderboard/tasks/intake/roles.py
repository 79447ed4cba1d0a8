"""The roles of columns, and the roles that a person chose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from leaderboard.files import Problem, printable
from leaderboard.tables import Table

ID, INPUT, REFERENCE, SYSTEM = "id", "input", "reference", "system"
# of tables with a row for each output: the system's name, and the output
NAMES, OUTPUT = "names", "output"
IGNORED = "ignored"
# how a text is displayed
TEXT, MARKDOWN, CODE, CONVERSATION = "text", "markdown", "code", "conversation"


@dataclass(frozen=True)
class Use:
    """The role of one column of one file.

    `name` is a system's name or an input's label; `format` is how its texts are
    displayed; `why` has the evidence for the role in a few words.
    """

    file: str
    column: str
    role: str
    name: str = ""
    format: str = TEXT
    why: str = ""


@dataclass(frozen=True)
class Said:
    """The roles that a person chose; they exclude guesses of the same role.

    `systems` maps a column, or a file with one output per row, to the system's name
    (empty: its name in the file). `names` is the column with the system of each row.
    `formats` maps a column to how it is displayed, with `output` for all systems'
    outputs. `labels` maps an input column to the label that people read.
    """

    id: str = ""
    inputs: Sequence[str] = ()
    references: Sequence[str] = ()
    ignored: Sequence[str] = ()
    systems: Mapping[str, str] = field(default_factory=dict)
    names: str = ""
    formats: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def role_of(self, column: str) -> str:
        """Return the role that a person chose for a column; empty: none.

        Examples
        --------
        >>> Said(inputs=["q"], systems={"m1": ""}).role_of("m1")
        'system'
        """
        for role, columns in (
            (ID, (self.id,)),
            (NAMES, (self.names,)),
            (INPUT, self.inputs),
            (REFERENCE, self.references),
            (SYSTEM, self.systems),
            (IGNORED, self.ignored),
        ):
            if column in columns:
                return role
        return ""

    def closes(self, role: str) -> bool:
        """Return whether a person chose columns for a role, which excludes guesses."""
        return {
            ID: bool(self.id),
            INPUT: bool(self.inputs),
            REFERENCE: bool(self.references),
            SYSTEM: bool(self.systems),
            NAMES: bool(self.names),
        }.get(role, False)

    def problems(self, tables: Sequence[Table]) -> list[Problem]:
        """Return the columns that are in no file, with the nearest that is.

        Examples
        --------
        >>> table = Table("a.csv", ("question", "m1"), ())
        >>> [str(problem) for problem in Said(inputs=["qestion"]).problems([table])]
        ['there is no column “qestion”; “question” is near.']
        """
        columns = list(dict.fromkeys(name for t in tables for name in t.columns))
        files = [name for t in tables for name in (t.file, t.stem)]
        named = [self.id, self.names, *self.inputs, *self.references, *self.ignored]
        named += [name for name in self.formats if name != OUTPUT]
        known = {*columns, ""}
        missing = [name for name in named if name not in known]
        missing += [name for name in self.systems if name not in {*known, *files}]
        return [_missing_column(name, [*columns, *files]) for name in missing]


def _missing_column(name: str, known: Sequence[str]) -> Problem:
    near = get_close_matches(name, known, 1)
    hint = f"“{printable(near[0])}” is near" if near else f"there are {_list(known)}"
    return Problem("unknown-column", f"there is no column “{printable(name)}”; {hint}")


def _list(names: Sequence[str]) -> str:
    return ", ".join(printable(name) for name in names[:12]) or "none"
