"""Names that differ only in case, spaces or quotation marks are joined on request."""

from collections.abc import Iterable, Mapping

from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.names import fold_name
from leaderboard.imports.readers.taking import SAME_THING, say_doubles

# Columns of `Judgments.rows` with these names.
_COLUMNS = {
    "systems": ("system", "other"),
    "raters": ("worker",),
    "criteria": ("criterion",),
}
_MOST = 5


def join_alike(
    judgments: Judgments,
    choices: Mapping[str, str],
    known: Mapping[str, Iterable[str]],
) -> tuple[Choice, ...]:
    """Join names of systems, raters and criteria in place if `choices` ask for it.

    ``same_systems``, ``same_raters`` and ``same_criteria``: "yes" joins. Joined names
    become those that the task has already (`known`, by kind). Returns a question for
    each kind with such names, even if it is answered.
    """
    asked = []
    rows, joined = judgments.rows, False
    for kind, columns in _COLUMNS.items():
        before = list(known.get(kind, ()))
        counts: dict[str, int] = dict.fromkeys(before, len(rows) + 1)
        for column in columns:
            for name, n in rows[column].value_counts(sort=False).items():
                counts[str(name)] = counts.get(str(name), 0) + int(n)
        groups = [group for group in _groups(counts) if not set(group) <= set(before)]
        if not groups:
            continue
        asked.append(_question(kind, groups))
        if choices.get(f"same_{kind}") != "yes":
            continue
        kept = {
            name: max(group, key=counts.__getitem__)
            for group in groups
            for name in group
        }
        _rename(judgments, kind, kept)
        joined = True
    if joined:
        say_doubles(judgments, "Joined names", (*SAME_THING, "other", "page"))
    return tuple(asked)


def _groups(names: Iterable[str]) -> list[list[str]]:
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(fold_name(name), []).append(name)
    return [group for key, group in alike.items() if key and len(group) > 1]


def _question(kind: str, groups: list[list[str]]) -> Choice:
    # a draft must not store raters' names
    listed = (
        f"{len(groups):,} groups of names"
        if kind == "raters"
        else "; ".join(" and ".join(map(repr, group)) for group in groups[:_MOST])
        + (f"; {len(groups) - _MOST:,} more" if len(groups) > _MOST else "")
    )
    return Choice(
        f"same_{kind}",
        f"Some {kind} have names that differ only in case, spaces or quotation marks "
        f"({listed}). Are they the same {kind}?",
        ("yes", "no"),
        needed=True,
    )


def _rename(judgments: Judgments, kind: str, kept: Mapping[str, str]) -> None:
    for column in _COLUMNS[kind]:
        judgments.rows[column] = judgments.rows[column].map(
            lambda name: kept.get(name, name)
        )
    if kind == "systems":
        texts = judgments.texts
        outputs: dict[tuple[str, str], str] = {}
        for (system, instance), text in texts.outputs.items():
            outputs.setdefault((kept.get(system, system), instance), text)
        texts.outputs = outputs
    if kind == "criteria":
        judgments.lower_is_better = tuple(
            kept.get(name, name) for name in judgments.lower_is_better
        )
        judgments.scales = {
            kept.get(name, name): scale for name, scale in judgments.scales.items()
        }
