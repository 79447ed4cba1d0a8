"""Label Studio: exports as JSON, JSON_MIN and CSV."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.imports.readers.item_fields import (
    Fields,
    asked,
    chosen_fields,
    number_of,
)
from leaderboard.imports.readers.judgments import (
    Judgments,
    Problem,
    Role,
    Span,
    from_rows,
)
from leaderboard.imports.readers.layout import NOT_MINE, Choice, Layout, Look
from leaderboard.imports.readers.names import moments
from leaderboard.imports.readers.people import pseudonyms
from leaderboard.imports.readers.preferred import outcomes
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.spans import WEIGHTS, fit, mqm_score, severity_of
from leaderboard.imports.readers.taking import say_doubles

# Columns of JSON_MIN and CSV about the annotation, beside data and answers.
_ABOUT = frozenset(
    ("id", "annotation_id", "annotator", "created_at", "updated_at", "lead_time",
     "annotation_notes", "was_cancelled", "ground_truth")
)  # fmt: skip
_SAME = ("worker", "instance", "system", "other", "criterion")


@dataclass
class _Answer:
    name: str
    # the objects that it concerns, such as ["text1", "text2"]
    about: list[str]
    word: str
    span: Span | None = None


@dataclass
class _Annotation:
    source: Source
    row: int
    task: str
    item: Mapping[str, Any]
    role: Role
    who: str
    at: str
    seconds: float
    answers: list[_Answer] = field(default_factory=list)


class LabelStudio(Layout):
    """Ratings, choices, pairs and spans; a person must state the meaning of names."""

    slug = "label-studio"
    title = "Label Studio"
    files = "An export as JSON (the fullest), JSON_MIN or CSV"

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        files = [source for source in sources if _kind(source)]
        if not files:
            return NOT_MINE
        found = [one for source in files for one in _annotations(source, [])]
        kinds = ", ".join(sorted({_kind(source) for source in files}))
        items = [one.item for one in found]
        return Look(0.9, f"an export as {kinds}", (_criteria(found), *asked(items)))

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        made = Judgments(cls.slug, from_rows([]))
        files = [source for source in sources if _kind(source)]
        found = [one for s in files for one in _annotations(s, made.problems)]
        if not found:
            raise GenieError("No file is an export of Label Studio.", code="no-export")
        mapping = _mapping(found, choices)
        fields = chosen_fields([one.item for one in found], choices)
        people = pseudonyms(o.who for o in found if o.role is not Role.PREDICTION)
        times = moments([one.at for one in found])
        rows: list[dict[str, Any]] = []
        for one, at in zip(found, times, strict=True):
            instance = fields.instance_of(one.item, one.task)
            fields.keep(made, one.item, instance)
            # programs keep their names
            worker = "" if one.role is Role.KEY else people.get(one.who, one.who)
            about = {
                "file": list(sources).index(one.source),
                "row": one.row,
                "role": one.role.value,
                "worker": worker,
                "instance": instance,
                "page": f"{worker} {one.task}",
                "at": at,
                "seconds": one.seconds,
            }
            rows += [
                {**about, **row} for row in _rows(one, mapping, fields, made.problems)
            ]
        _fit(rows, made)
        _tell(made, found)
        made.rows = from_rows(rows)
        say_doubles(made, files[0].name, _SAME)
        return made


def _kind(source: Source) -> str:
    head = source.head
    if source.ending == "json" and head.lstrip().startswith("["):
        if '"annotations"' in head and re.search(r'"(completed_by|from_name)"', head):
            return "JSON"
        return "JSON_MIN" if '"annotation_id"' in head else ""
    if source.ending in ("csv", "tsv"):
        names = set(re.split(r"[,\t]", (source.lines(1) or [""])[0].replace('"', "")))
        return "CSV" if {"annotation_id", "annotator"} <= names else ""
    return ""


def _annotations(source: Source, problems: list[Problem]) -> Iterator[_Annotation]:
    if _kind(source) == "CSV":
        separator = "\t" if source.ending == "tsv" else ","
        listed: list[Any] = source.table(separator).to_dict("records")
    else:
        listed = source.json()
    for row, task in enumerate(listed, 1):
        try:
            if isinstance(task.get("annotations"), list):
                yield from _of_task(source, row, task)
            else:
                yield _of_row(source, row, task)
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ) as error:
            what = f"It cannot be read: {error!r}. Export it again, or take it out."
            problems.append(Problem(source.name, row, "", what))


def _of_task(
    source: Source, row: int, task: Mapping[str, Any]
) -> Iterator[_Annotation]:
    data = dict(task["data"])
    every = [(one, _role(one)) for one in task["annotations"]]
    every += [(one, Role.DRAFT) for one in task.get("drafts") or []]
    every += [(one, Role.PREDICTION) for one in task.get("predictions") or []]
    for one, role in every:
        if not isinstance(one, dict):
            # exports may have only their numbers
            continue
        yield _Annotation(
            source,
            row,
            str(task.get("id", row)),
            data,
            role,
            _who(one.get("completed_by", one.get("user", one.get("model_version")))),
            str(one.get("updated_at") or one.get("created_at") or ""),
            _seconds(one.get("lead_time")),
            [_answer(result) for result in one["result"] if "value" in result],
        )


def _of_row(source: Source, row: int, task: Mapping[str, Any]) -> _Annotation:
    item = {name: value for name, value in task.items() if name not in _ABOUT}
    answers = [
        _Answer(name, [], word)
        for name, value in item.items()
        for word in _words(value)
        if word
    ]
    return _Annotation(
        source,
        row,
        str(task.get("id", row)),
        item,
        _role(task),
        _who(task.get("annotator")),
        str(task.get("updated_at") or task.get("created_at") or ""),
        _seconds(task.get("lead_time")),
        answers,
    )


def _role(about: Mapping[str, Any]) -> Role:
    if str(about.get("was_cancelled")).lower() == "true":
        return Role.CANCELLED
    if str(about.get("ground_truth")).lower() == "true":
        return Role.KEY
    return Role.JUDGMENT


def _who(value: Any) -> str:
    """Return a person's number; names and addresses of the object form are dropped."""
    if isinstance(value, dict):
        value = value.get("id")
    return "" if value is None else str(value)


def _seconds(value: Any) -> float:
    return number_of(str(value)) if value is not None else math.nan


def _answer(result: Mapping[str, Any]) -> _Answer:
    name, value = str(result["from_name"]), result["value"]
    about = str(result.get("to_name") or "").split(",")
    if "start" in value and "end" in value:
        marked = next((v for v in value.values() if isinstance(v, list)), [])
        word = " ".join(map(str, marked))
        severity = severity_of(word) if severity_of(word) in WEIGHTS else ""
        category = "" if severity else word
        span = Span(int(value["start"]), int(value["end"]), severity, category)
        return _Answer(name, about, word, span)
    kind = str(result.get("type") or "")
    known = ("selected", kind, "choices", "rating", "number", "text", "labels")
    said = next((value[key] for key in known if key in value), "")
    return _Answer(name, about, "; ".join(_words(said)))


def _words(value: Any) -> list[str]:
    """Return an answer's words; a list, or JSON in a cell, may have several."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
    if isinstance(value, dict):
        value = next((v for v in value.values() if isinstance(v, list)), [])
    if isinstance(value, list):
        single = [str(one) for one in value if not isinstance(one, dict)]
        return ["; ".join(single)] if single else []
    return [] if value is None else [str(value)]


def _names(found: Sequence[_Annotation]) -> list[str]:
    return list(dict.fromkeys(a.name for one in found for a in one.answers))


def _criteria(found: Sequence[_Annotation]) -> Choice:
    names = _names(found)
    return Choice(
        "criteria",
        "Which name is which criterion? Write name=criterion, with commas between, and"
        " name=criterion@2 where it rates the second of two texts; names left out are"
        f" not read. The names are {', '.join(names) or 'none'}.",
        needed=True,
    )


def _mapping(
    found: Sequence[_Annotation], choices: Mapping[str, Any]
) -> dict[str, tuple[str, int]]:
    given = choices.get("criteria") or ""
    if isinstance(given, Mapping):
        given = ",".join(f"{name}={criterion}" for name, criterion in given.items())
    asked_for = _criteria(found)
    if not given:
        raise GenieError(f"Say criteria: {asked_for.question}", code="choice-needed")
    mapping = {}
    known = _names(found)
    for pair in str(given).split(","):
        name, _, criterion = (part.strip() for part in pair.partition("="))
        criterion, _, which = criterion.partition("@")
        wrong = name not in known or not criterion or (which and which not in "12")
        if wrong:
            raise GenieError(
                f"criteria: {pair.strip()!r} is not understood. {asked_for.question}",
                code="unknown-choice",
            )
        mapping[name] = (criterion.strip(), int(which or 0))
    return mapping


def _rows(
    one: _Annotation,
    mapping: Mapping[str, tuple[str, int]],
    fields: Fields,
    problems: list[Problem],
) -> list[dict[str, Any]]:
    """Return a row for each answer with a criterion; spans of a name are one answer."""
    systems = fields.systems_of(one.item)
    targets = list(
        dict.fromkeys(t for a in one.answers for t in a.about if t and len(systems) > 1)
    )
    targets.sort()
    rows: list[dict[str, Any]] = []
    spans: dict[tuple[str, int], list[Span]] = {}
    for answer in one.answers:
        if answer.name not in mapping:
            continue
        criterion, which = mapping[answer.name]
        alone = len(answer.about) == 1 and answer.about[0] in targets
        if not which and alone and len(targets) == len(systems):
            which = targets.index(answer.about[0]) + 1
        if answer.span:
            spans.setdefault((criterion, which), []).append(answer.span)
            continue
        row = _row(answer, which, systems)
        if isinstance(row, str):
            problems.append(Problem(one.source.name, one.row, answer.name, row))
            continue
        rows.append({**row, "criterion": criterion})
    for (criterion, which), marked in spans.items():
        if len(systems) > 1 and not which:
            what = "Which of the texts its spans are of is not known: say name=criterion@1."
            problems.append(Problem(one.source.name, one.row, criterion, what))
        elif systems:
            known = all(span.severity for span in marked)
            value = mqm_score(marked) if known else math.nan
            about = {"system": systems[max(which - 1, 0)], "criterion": criterion}
            said = {"value": value, "word": f"{len(marked)} spans", "spans": marked}
            rows.append({**about, **said})
    return rows


def _row(answer: _Answer, which: int, systems: Sequence[str]) -> dict[str, Any] | str:
    """Read one answer; a problem with it is returned as a sentence."""
    word = answer.word
    if not systems:
        return "Its task does not say whose text is shown: put it into the data."
    if len(systems) == 1 or which:
        system = systems[max(which - 1, 0)]
        return {"system": system, "value": number_of(word), "word": word}
    first, second = systems[:2]
    value = float(outcomes([word], [first], [second])[0])
    if math.isnan(value) or len(systems) > 2:
        return (
            f"{word!r} is of one of {len(systems)} texts, and of which is not known: say"
            f" {answer.name}=criterion@1 or @2."
        )
    return {"system": first, "other": second, "value": value, "word": word}


def _fit(rows: list[dict[str, Any]], made: Judgments) -> None:
    marked = [row for row in rows if row.get("spans")]
    outputs = made.texts.outputs
    texts = [outputs.get((row["system"], row["instance"]), "") for row in marked]
    fitted, told = fit(
        [(t, row["spans"]) for t, row in zip(texts, marked, strict=True)]
    )
    for row, spans in zip(marked, fitted, strict=True):
        row["spans"] = [span.to_dict() for span in spans]
    if told:
        made.problems.append(Problem("spans", 0, "", told, fatal=False))


def _tell(made: Judgments, found: Sequence[_Annotation]) -> None:
    name = found[0].source.name
    nobody = sum(one.who == "" and one.role is Role.JUDGMENT for one in found)
    if nobody:
        what = (
            f"{nobody:,} annotations do not say who gave them: they count as one person's,"
            " so intervals cannot tell people apart."
        )
        made.problems.append(Problem(name, 0, "completed_by", what, fatal=False))
    long = sum(one.seconds > 3600 for one in found)
    if long:
        what = (
            f"lead_time is more than an hour for {long:,} annotations: it holds breaks."
        )
        made.problems.append(Problem(name, 0, "lead_time", what, fatal=False))
