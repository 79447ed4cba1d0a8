"""Pearmut: campaigns in JSON, and one line per submitted document."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.imports.readers.choosing import chosen, one_of
from leaderboard.imports.readers.judgments import (
    Judgments,
    Problem,
    Role,
    Span,
    from_rows,
)
from leaderboard.imports.readers.layout import NOT_MINE, Choice, Layout, Look
from leaderboard.imports.readers.layouts.pearmut_pages import (
    Page,
    is_number,
    is_output,
    pages_of,
)
from leaderboard.imports.readers.people import pseudonyms
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.spans import fit, inclusive, mqm_score


@dataclass
class _Text:
    page: Page
    instance: str
    document: str
    system: str
    said: Mapping[str, Any]
    output: str
    spans: list[Span]
    role: Role
    prefilled: int
    # the expected score, if it is a check
    key: Any


class Pearmut(Layout):
    """DA, ESA, contrastive ESA, MQM and sliders, with their spans."""

    slug = "pearmut"
    title = "Pearmut"
    files = (
        "The output (.jsonl, a line a document submitted), beside it the campaign (.json);"
        " progress.json holds passwords and is not read"
    )

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        files = [source for source in sources if is_output(source)]
        if not files:
            return NOT_MINE
        return Look(
            0.95, "lines with user_id, item_i and annotation", (_choice(files),)
        )

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        files = [source for source in sources if is_output(source)]
        if not files:
            raise GenieError(
                "There is no output of Pearmut: lines with user_id, item_i and"
                " annotation. A campaign alone holds no judgments.",
                code="no-output",
            )
        name = chosen(choices, "campaign", _choice(files).options)
        source = next(s for s in files if s.stem == name)
        campaign = _campaign(sources, name)
        info = campaign.get("info")
        info = info if isinstance(info, dict) else {}
        made = Judgments(cls.slug, from_rows([]))
        pages = pages_of(source, info, made.problems)
        texts = [
            text for page in pages for text in _texts(page, campaign, source, made)
        ]
        fitted, told = fit([(text.output, text.spans) for text in texts])
        for text, spans in zip(texts, fitted, strict=True):
            text.spans = spans
        if told:
            problem = Problem(source.name, 0, "error_spans", told, fatal=False)
            made.problems.append(problem)
        people = pseudonyms(page.key[0] for page in pages)
        protocol = str(info.get("protocol") or _protocol(texts))
        made.scales = {"score": "0 to 100"}
        if protocol != "MQM":
            made.scales[protocol] = "0 to 100"
        _write(made, texts, people, protocol, list(sources).index(source))
        _tell(made, texts, source.name)
        return made


def _choice(files: Sequence[Source]) -> Choice:
    question = "Which campaign's output shall be read?"
    return one_of("campaign", question, [source.stem for source in files])


def _campaign(sources: Sequence[Source], name: str) -> Mapping[str, Any]:
    for source in sources:
        if source.ending == "json" and '"campaign_id"' in source.text:
            value = source.json()
            if isinstance(value, dict) and name in (
                value.get("campaign_id"),
                source.stem,
            ):
                return value
    return {}


def _texts(
    page: Page, campaign: Mapping[str, Any], source: Source, made: Judgments
) -> Iterator[_Text]:
    items = _items(page, campaign)
    said = page.record["annotation"]
    said = said if isinstance(said, list) else [said]
    if len(items) != len(said):
        what = (
            f"It has {len(said)} annotations of {len(items)} segments: add the campaign"
            " (JSON), or take the line out."
        )
        made.problems.append(Problem(source.name, page.line, "annotation", what))
        return
    ids = [_instance(item, page, n) for n, item in enumerate(items)]
    for item, instance, one in zip(items, ids, said, strict=True):
        if one is None or "form" in item:
            continue
        outputs = _by_model(item, item.get("tgt"))
        by_model = _by_model(item, one if not _is_said(one) else [one])
        for system, about in by_model.items():
            if not isinstance(about, dict):
                what = (
                    f"What is said of {system!r} is no object: the campaign is needed."
                )
                made.problems.append(
                    Problem(source.name, page.line, "annotation", what)
                )
                continue
            text = _text(page, instance, ids, system, about, item, outputs)
            if isinstance(text, str):
                made.problems.append(
                    Problem(source.name, page.line, "error_spans", text)
                )
                continue
            if page.role in (Role.JUDGMENT, Role.NAMES_SHOWN):
                _keep(made, item, text, source)
            yield text


def _items(page: Page, campaign: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the items shown; older lines have only the document's number."""
    items = page.record.get("item")
    if items is None:
        data, number = campaign.get("data"), page.record["item_i"]
        known = dict(enumerate(data)) if isinstance(data, list) else {}
        items = known.get(number, {})
    listed = items if isinstance(items, list) else [items]
    return [item if isinstance(item, dict) else {} for item in listed]


def _is_said(value: object) -> bool:
    return isinstance(value, dict) and bool({"score", "error_spans"} & set(value))


def _by_model(item: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Return a value by model; older files have lists in the order of the models."""
    if isinstance(value, dict):
        return value
    listed = value if isinstance(value, list) else [] if value is None else [value]
    names = item.get("models") or item.get("model") or []
    names = names if isinstance(names, list) else [names]
    if not names and isinstance(item.get("tgt"), dict):
        names = list(item["tgt"])
    return dict(zip(map(str, names), listed, strict=False))


def _instance(item: Mapping[str, Any], page: Page, n: int) -> str:
    if item.get("item_id") is not None:
        return str(item["item_id"])
    if item.get("src"):
        return str(item["src"])
    return f"{page.record['item_i']}.{n}"


def _text(
    page: Page,
    instance: str,
    ids: Sequence[str],
    system: str,
    about: Mapping[str, Any],
    item: Mapping[str, Any],
    outputs: Mapping[str, Any],
) -> _Text | str:
    """Read the answers about one text; a problem with its spans is a sentence."""
    output = str(outputs.get(system) or "")
    try:
        spans = inclusive(about.get("error_spans") or [])
    except (ValueError, TypeError, AttributeError) as error:
        return f"The spans of {system!r} cannot be read: {error}."
    # the tokens after the text are for omissions
    spans = [
        Span(None, None, one.severity, one.category)
        if output and one.start is not None and one.start >= len(output)
        else one
        for one in spans
    ]
    role = page.role
    key = _by_model(item, item.get("validation")).get(system)
    if key and role in (Role.JUDGMENT, Role.NAMES_SHOWN):
        skippable = item.get("skippable") or "allow_skip" in str(key)
        role = Role.TUTORIAL if skippable else Role.PLANTED
    before = _by_model(item, item.get("error_spans")).get(system) or []
    document = ids[0] if len(ids) > 1 else ""
    n = len(before)
    return _Text(page, instance, document, system, about, output, spans, role, n, key)


def _keep(
    made: Judgments, item: Mapping[str, Any], text: _Text, source: Source
) -> None:
    if item.get("src"):
        one = {"source": str(item["src"])}
        if made.texts.inputs.setdefault(text.instance, one) != one:
            what = (
                f"Its {text.instance!r} has another source than before: name it apart."
            )
            problem = Problem(source.name, text.page.line, "item_id", what, fatal=False)
            made.problems.append(problem)
    if item.get("ref"):
        made.texts.references.setdefault(text.instance, [str(item["ref"])])
    if text.output:
        made.texts.outputs.setdefault((text.system, text.instance), text.output)
    if text.document:
        made.documents.setdefault(text.instance, text.document)


def _protocol(texts: Sequence[_Text]) -> str:
    if any(span.category for text in texts for span in text.spans):
        return "MQM"
    return "ESA" if any(text.spans for text in texts) else "DA"


def _write(
    made: Judgments,
    texts: Sequence[_Text],
    people: Mapping[str, str],
    protocol: str,
    file: int,
) -> None:
    import pandas as pd

    shared = Counter(text.page.line for text in texts)
    listed: list[dict[str, Any]] = []
    extra = []
    for text in texts:
        page = text.page
        worker = people[page.key[0]]
        common = {
            "file": file,
            "row": page.line,
            "role": text.role.value,
            "worker": worker,
            "instance": text.instance,
            "system": text.system,
            "page": f"{worker} {page.key[1]}",
            "document": text.document,
            "at": page.at,
            "seconds": page.seconds / shared[page.line],
        }
        said = list(_said(text, protocol))
        for n, (criterion, value) in enumerate(said):
            spans = [span.to_dict() for span in text.spans]
            about = {"criterion": criterion, "value": value, "word": str(value)}
            listed.append({**common, **about, "spans": None if n else spans})
        extra += [{"item_i": page.key[1], "prefilled": text.prefilled}] * len(said)
    for row in _keys(texts, file, protocol):
        listed.append(row)
        extra.append({"item_i": "", "prefilled": 0})
    made.rows = from_rows(listed)
    made.extra = pd.DataFrame(extra)


def _keys(texts: Sequence[_Text], file: int, criterion: str) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for text in texts:
        asked = text.key if isinstance(text.key, list) else [text.key]
        for one in asked:
            score = one.get("score") if isinstance(one, dict) else None
            if not isinstance(score, list) or len(score) != 2:
                continue
            rows[text.system, text.instance] = {
                "file": file,
                "row": text.page.line,
                "role": Role.KEY.value,
                "instance": text.instance,
                "system": text.system,
                "criterion": criterion,
                "value": sum(score) / 2,
                "word": f"{score[0]}–{score[1]}",
            }
    return list(rows.values())


def _said(text: _Text, protocol: str) -> Iterator[tuple[str, float]]:
    sliders = text.said.get("sliders") or {}
    for name, value in sliders.items():
        if is_number(value):
            yield str(name), float(value)
    score = text.said.get("score")
    if is_number(score) and not (protocol == "MQM" and score == 0):
        yield ("score" if protocol == "MQM" else protocol), float(score)
    if protocol != "DA":
        yield "MQM", mqm_score(text.spans)


def _tell(made: Judgments, texts: Sequence[_Text], name: str) -> None:
    told = []
    if any(text.prefilled for text in texts):
        told.append(
            "Errors were marked before people saw the texts (ESA-AI): the spans do not"
            " say which of them people added."
        )
    if any(text.role is Role.NAMES_SHOWN for text in texts):
        told.append("The names of the models were shown: nothing of it is a judgment.")
    if any(not math.isnan(text.page.seconds) for text in texts):
        told.append(
            "Seconds are a page's, breaks included, in equal shares for its texts."
        )
    made.problems += [Problem(name, 0, "", sentence, fatal=False) for sentence in told]
