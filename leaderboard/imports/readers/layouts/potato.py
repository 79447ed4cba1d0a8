"""Potato: outputs of its three versions, and the data that was shown."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    Span,
    from_rows,
)
from leaderboard.imports.readers.layout import NOT_MINE, Choice, Layout, Look
from leaderboard.imports.readers.people import pseudonyms
from leaderboard.imports.readers.preferred import outcomes
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.spans import WEIGHTS, fit, mqm_score, severity_of
from leaderboard.imports.readers.taking import say_doubles

_STATE = "user_state.json"
_OLD = "annotated_instances"
_TABLES = {"csv": ",", "tsv": "\t"}
# Under this name the value itself is the choice.
_BY_VALUE = re.compile(r"scale_.*|\d+|selection|selected|value|rating|slider|text_box")
_SECONDS = re.compile(r"(\d+)d (\d+)h (\d+)m (\d+)s")
_SAME = ("worker", "instance", "system", "other", "criterion")


@dataclass
class _Said:
    source: Source
    row: int
    user: str
    item: str
    labels: Mapping[str, Mapping[str, Any]]
    spans: list[Span]
    seconds: float


class Potato(Layout):
    """Ratings, choices, pairs and spans of Potato's projects."""

    slug = "potato"
    title = "Potato"
    files = (
        "annotation_output with a folder a person (annotated_instances.jsonl or"
        " user_state.json), or an export (annotations.jsonl), beside it the data"
    )

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        files = [source for source in sources if _age(source)]
        if not files:
            return NOT_MINE
        ages = sorted({_age(source) for source in files})
        several = Choice(
            "several",
            "In which schemas could several answers be chosen? With commas between.",
        )
        more = (*asked(list(_items(sources).values())), several)
        return Look(0.9, f"files of Potato: {', '.join(ages)}", more)

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        made = Judgments(cls.slug, from_rows([]))
        files = _newest(sources, made.problems)
        items = _items(sources)
        if not items:
            raise GenieError(
                "The data that was shown is missing: without it nobody knows whose text"
                " an answer is of. Add the project's data files (JSON, with id).",
                code="no-data",
            )
        fields = chosen_fields(list(items.values()), choices)
        said = [one for source in files for one in _said(source, made.problems)]
        people = pseudonyms(one.user for one in said)
        several = {name.strip() for name in str(choices.get("several", "")).split(",")}
        rows = []
        for one in said:
            if one.item not in items:
                what = (
                    f"Item {one.item!r} is in no data file, so nobody knows its system."
                )
                made.problems.append(Problem(one.source.name, one.row, "id", what))
                continue
            about = _about(one, items[one.item], fields, people)
            fields.keep(made, items[one.item], about["instance"])
            file = list(sources).index(one.source)
            systems = fields.systems_of(items[one.item])
            for row in _rows(one, systems, several, made.problems):
                rows.append({"file": file, **about, **row})
        _fit(rows, made)
        made.rows = from_rows(rows)
        say_doubles(made, files[0].name, _SAME)
        return made


def _about(
    said: _Said, item: Mapping[str, Any], fields: Fields, people: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "row": said.row,
        "worker": people[said.user],
        "instance": fields.instance_of(item, said.item),
        "page": f"{people[said.user]} {said.item}",
        "seconds": said.seconds,
    }


def _age(source: Source) -> str:
    name = source.name.rpartition("/")[2]
    if name == _STATE and '"instance_id_to_label_to_value"' in source.head:
        return "state"
    first = (source.lines(1) or [""])[0]
    if source.ending in _TABLES:
        names = first.replace('"', "").split(_TABLES[source.ending])
        whole = {"instance_id", "user_id"} <= set(names)
        return "export" if whole and any("." in name for name in names) else ""
    if source.ending != "jsonl":
        return ""
    if source.stem == _OLD and re.search('"(label_annotations|annotation)":', first):
        return "old"
    keys = ('"instance_id"', '"user_id"', '"labels"')
    return "export" if all(key in first for key in keys) else ""


def _newest(sources: Sequence[Source], problems: list[Problem]) -> list[Source]:
    """Return the newest of the outputs, which all have the same answers."""
    by_age: dict[str, list[Source]] = {}
    for source in sources:
        if age := _age(source):
            by_age.setdefault(age, []).append(source)
    for age in ("export", "state", "old"):
        if age not in by_age:
            continue
        for other in set(by_age) - {age}:
            what = "The same answers are in newer files, which are read instead."
            problems.append(Problem(by_age[other][0].name, 0, "", what, fatal=False))
        return by_age[age]
    raise GenieError("No file is an output of Potato.", code="no-output")


def _items(sources: Sequence[Source]) -> dict[str, Mapping[str, Any]]:
    items: dict[str, Mapping[str, Any]] = {}
    for source in sources:
        if _age(source) or source.ending not in ("json", "jsonl"):
            continue
        if not re.search(r'"(id|item_id|instance_id)"\s*:', source.head):
            continue
        for value in _values(source):
            if isinstance(value, dict):
                number = value.get("id", value.get("item_id", value.get("instance_id")))
                if number is not None and "user_id" not in value:
                    items.setdefault(str(number), value)
    return items


def _values(source: Source) -> list[Any]:
    """Read JSON or JSON lines; files of either kind may have either ending."""
    try:
        value = json.loads(source.text)
    except (ValueError, RecursionError):
        return [value for _, value in source.objects()]
    return value if isinstance(value, list) else [value]


def _said(source: Source, problems: list[Problem]) -> Iterator[_Said]:
    if _age(source) == "state":
        records = _of_state(source)
    elif source.ending in _TABLES:
        records = _of_table(source)
    else:
        records = source.objects()
    folder = source.name.rpartition("/")[0].rpartition("/")[2]
    for row, record in records:
        try:
            said = _record(source, row, record, folder)
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ) as error:
            what = f"It cannot be read: {error!r}. Export it again, or take it out."
            problems.append(Problem(source.name, row, "", what))
            continue
        # pages of a survey are among the items, too
        if not said.item.endswith(".html"):
            yield said


def _of_state(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    state = source.json()
    state = state if isinstance(state, dict) else {}
    labels, spans = (
        value if isinstance(value, dict) else {}
        for value in (
            state.get("instance_id_to_label_to_value"),
            state.get("instance_id_to_span_to_value"),
        )
    )
    about = {"user_id": state["user_id"]} if state.get("user_id") else {}
    for row, item in enumerate(dict.fromkeys([*labels, *spans]), 1):
        said = {"labels": labels.get(item) or {}, "spans": spans.get(item)}
        yield row, {"instance_id": item, **about, **said}


def _of_table(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    table = source.table(_TABLES[source.ending])
    for row, cells in enumerate(table.to_dict("records"), 2):
        labels: dict[str, dict[str, Any]] = {}
        spans: dict[str, Any] = {}
        for name, value in cells.items():
            schema, _, label = str(name).rpartition(".")
            if not schema or not value:
                continue
            if label == "_spans":
                spans[schema] = value
            else:
                labels.setdefault(schema, {})[label] = value
        about = {"instance_id": cells["instance_id"], "user_id": cells["user_id"]}
        yield row, {**about, "labels": labels, "spans": spans}


def _record(source: Source, row: int, record: Any, folder: str) -> _Said:
    item = str(record["instance_id"] if "instance_id" in record else record["id"])
    labels = record.get("labels")
    if labels is None:
        labels = record.get("label_annotations", record.get("annotation"))
    user = str(record.get("user_id") or record.get("user") or folder)
    spans = _spans(record.get("spans", record.get("span_annotations")))
    seconds = _seconds(record.get("behavioral_data"))
    return _Said(source, row, user, item, _labels(labels), spans, seconds)


def _labels(value: Any) -> dict[str, dict[str, Any]]:
    if isinstance(value, dict):
        return {
            str(schema): said
            if isinstance(said, dict)
            else {
                str(name): name for name in (said if isinstance(said, list) else [said])
            }
            for schema, said in value.items()
        }
    found: dict[str, dict[str, Any]] = {}
    for pair in value or []:
        about, said = pair
        found.setdefault(str(about["schema"]), {})[str(about["name"])] = said
    return found


def _spans(value: Any) -> list[Span]:
    """Read spans; their ends are exclusive already."""
    if isinstance(value, dict):
        # a cell of a table contains JSON
        listed = [json.loads(v) if isinstance(v, str) else v for v in value.values()]
        value = [one for v in listed for one in (v if isinstance(v, list) else [v])]
    spans = []
    for one in value or []:
        about = one[0] if isinstance(one, list) else one
        label = about.get("annotation", about.get("label", about.get("name", "")))
        label = label if isinstance(label, str) else " ".join(map(str, label or []))
        word = severity_of(label)
        severity, category = (word, "") if word in WEIGHTS else ("", label)
        spans.append(Span(int(about["start"]), int(about["end"]), severity, category))
    return spans


def _seconds(value: Any) -> float:
    if not isinstance(value, dict):
        return math.nan
    if found := _SECONDS.search(str(value.get("time_string", ""))):
        days, hours, minutes, seconds = map(int, found.groups())
        return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
    taken = value.get("total_time_ms")
    return taken / 1000 if isinstance(taken, int | float) else math.nan


def _rows(
    said: _Said, systems: Sequence[str], several: set[str], problems: list[Problem]
) -> list[dict[str, Any]]:
    rows = []
    for schema, by_name in said.labels.items():
        if not by_name:
            continue
        if len(by_name) > 1 and schema not in several:
            what = (
                f"Several answers where one could be chosen ({', '.join(by_name)}): the"
                " last given is not known. Say several, if they could all be chosen."
            )
            problems.append(Problem(said.source.name, said.row, schema, what))
            continue
        row = _answer(by_name, systems)
        if row is None:
            what = (
                f"It shows the texts of {len(systems)} systems, and an answer of one: add"
                " a field that says whose."
            )
            problems.append(Problem(said.source.name, said.row, schema, what))
            continue
        rows.append({**row, "criterion": schema})
    if said.spans and len(systems) == 1:
        known = all(span.severity for span in said.spans)
        if not rows or known:
            word = f"{len(said.spans)} spans"
            value = mqm_score(said.spans) if known else math.nan
            about = {"system": systems[0], "criterion": "spans", "word": word}
            rows.append({**about, "value": value})
        rows[-1]["spans"] = said.spans
    return rows


def _answer(
    by_name: Mapping[str, Any], systems: Sequence[str]
) -> dict[str, Any] | None:
    words = [
        str(value) if _BY_VALUE.fullmatch(name) or str(value) == name else name
        for name, value in by_name.items()
    ]
    word = "; ".join(words)
    if len(systems) == 2:
        first, second = systems
        if "scale_value" in by_name:
            # negative is for the first
            value = 0.5 - 0.5 * float(np.sign(number_of(str(by_name["scale_value"]))))
        else:
            value = float(outcomes([word], [first], [second])[0])
        if math.isnan(value):
            return None
        return {"system": first, "other": second, "value": value, "word": word}
    if len(systems) != 1:
        return None
    value = number_of(word) if len(words) == 1 else math.nan
    return {"system": systems[0], "value": value, "word": word}


def _fit(rows: list[dict[str, Any]], made: Judgments) -> None:
    marked = [row for row in rows if row.get("spans")]
    outputs = made.texts.outputs
    fitted, told = fit(
        [
            (outputs.get((row["system"], row["instance"]), ""), row["spans"])
            for row in marked
        ]
    )
    for row, spans in zip(marked, fitted, strict=True):
        row["spans"] = [span.to_dict() for span in spans]
    if told:
        made.problems.append(Problem("spans", 0, "", told, fatal=False))
