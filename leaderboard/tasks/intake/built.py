"""The items collected while files are read, and checks that files agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leaderboard.tasks.intake.problem import FileProblem, Findings, shown

_N_NAMED = 5


@dataclass
class Built:
    fields: dict[str, dict[str, str]] = field(default_factory=dict)
    references: dict[str, list[str]] = field(default_factory=dict)
    systems: dict[str, dict[str, str]] = field(default_factory=dict)
    # the file of each system, and the ids in each file
    files: dict[str, str] = field(default_factory=dict)
    ids: dict[str, list[str]] = field(default_factory=dict)
    found: Findings = field(default_factory=Findings)

    def wrong(
        self, code: str, message: str, file: str = "", place: str = "", column: str = ""
    ) -> None:
        self.found.add(FileProblem(code, message, file, place, column))


def same_ids(built: Built, n_files: int) -> None:
    """Add problems if files or systems are about different inputs."""
    if n_files > 1:
        first, *others = built.ids
        for file in others:
            _compared(built, built.ids[first], built.ids[file], first, file)
    if built.found.found:
        return
    for name, outputs in built.systems.items():
        missing = [key for key in built.fields if key not in outputs]
        if missing:
            built.wrong(
                "ids-differ",
                f"“{shown(name)}” has no output for {_some(missing)}",
                built.files[name],
            )


def _compared(
    built: Built, known: Sequence[str], own: Sequence[str], first: str, file: str
) -> None:
    if len(known) != len(own) and _are_places(known) and _are_places(own):
        built.wrong(
            "ids-differ",
            f"it has {len(own):,} rows and {shown(first)} {len(known):,}; without a "
            "column of ids, rows are matched by their order",
            file,
        )
        return
    for these, those, what in ((known, own, "lacks"), (own, known, "adds")):
        others = set(those)
        missing = [key for key in these if key not in others]
        if missing:
            built.wrong(
                "ids-differ",
                f"compared with {shown(first)}, it {what} {_some(missing)}; all files "
                "must be about the same inputs",
                file,
            )


def _are_places(keys: Sequence[str]) -> bool:
    return list(keys) == [str(number + 1) for number in range(len(keys))]


def _some(keys: Sequence[str]) -> str:
    named = ", ".join(f"“{shown(key)}”" for key in keys[:_N_NAMED])
    more = len(keys) - _N_NAMED
    of = "id" if len(keys) == 1 else "ids"
    return f"the {of} {named}" + (f" and {more:,} more" if more > 0 else "")


def every_input(built: Built, labels: Mapping[str, str]) -> None:
    """Add problems for items without any text to show."""
    if not labels:
        return
    empty = [
        key
        for key, texts in built.fields.items()
        if not any(text.strip() for text in texts.values())
    ]
    if empty:
        built.wrong("missing-cell", f"there is no input for {_some(empty)}")
