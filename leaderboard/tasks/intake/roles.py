"""What a column can be, and what a person says that it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from leaderboard.tasks.intake.problem import FileProblem, shown
from leaderboard.tasks.intake.table import Table

ID, INPUT, REFERENCE, SYSTEM = "id", "input", "reference", "system"
# of tables with a row for each output: whose it is, and the output itself
NAMES, OUTPUT = "names", "output"
IGNORED = "ignored"
# how a text is shown
TEXT, MARKDOWN, CODE, CONVERSATION = "text", "markdown", "code", "conversation"


@dataclass(frozen=True)
class Use:
    """What one column of one file is taken for.

    Parameters
    ----------
    role : str
        One of those above.
    name : str
        Of a system its name, of an input the label that people read.
    format : str
        How its texts are shown.
    why : str
        What speaks for it, in a few words.
    """

    file: str
    column: str
    role: str
    name: str = ""
    format: str = TEXT
    why: str = ""


@dataclass(frozen=True)
class Said:
    """What a person says of columns; of a role that is named, no guess is kept.

    Parameters
    ----------
    inputs, references, ignored : sequence of str
        Columns.
    systems : mapping
        Column, or file with one output a row, to the system's name (empty: as it is
        called there).
    names : str
        The column that says whose output a row is.
    formats : mapping
        Column to how it is shown; `output` stands for all systems' outputs.
    labels : mapping
        Input column to the label that people read.
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
        """Give the role that a column was given; empty: nothing was said.

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
        """Tell whether a guess of this role no longer holds, as it was said by name."""
        return {
            ID: bool(self.id),
            INPUT: bool(self.inputs),
            REFERENCE: bool(self.references),
            SYSTEM: bool(self.systems),
            NAMES: bool(self.names),
        }.get(role, False)

    def problems(self, tables: Sequence[Table]) -> list[FileProblem]:
        """Name the columns that are in no file, with the nearest that is.

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
        return [_missing(name, [*columns, *files]) for name in missing]


def _missing(name: str, known: Sequence[str]) -> FileProblem:
    near = get_close_matches(name, known, 1)
    hint = f"“{shown(near[0])}” is near" if near else f"there are {_list(known)}"
    return FileProblem("unknown-column", f"there is no column “{shown(name)}”; {hint}")


def _list(names: Sequence[str]) -> str:
    return ", ".join(shown(name) for name in names[:12]) or "none"
