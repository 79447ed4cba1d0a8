"""Pearmut: one line per submitted document, beside it the campaign in JSON."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leaderboard.files import File
from leaderboard.imports.readers.judgments import Judgments, Role
from leaderboard.imports.readers.marked import Campaigns, Row, add_rows
from leaderboard.imports.readers.sources import number_of, rows_of, stem_of
from leaderboard.imports.readers.spans import inclusive, mqm_score
from leaderboard.tables import read_json

_NAMES = ("user_id", "item_i", "annotation", "item")
# Prefixes of document numbers that are not ratings.
_ASIDE = {"welcome_": Role.TUTORIAL, "goodbye_": Role.FILL_UP, "random_": Role.PLANTED}


class Pearmut(Campaigns):
    """DA, ESA, contrastive ESA, MQM and sliders, with their spans."""

    slug = "pearmut"
    title = "Pearmut"

    @classmethod
    def has_ratings(cls, file: File) -> bool:
        head = file.head().lstrip()  # the first line may be longer
        known = b'"user_id"' in head or b'"error_spans"' in head
        return head[:1] == b"{" and b'"annotation"' in head and known

    @classmethod
    def read_file(
        cls, n: int, files: Sequence[File], choices: Mapping[str, Any], made: Judgments
    ) -> None:
        file, name = files[n], stem_of(files[n])
        found = [read_json(f) for f in files if b'"campaign_id"' in f.head()]
        known = [one for one in found if isinstance(one, dict)]
        about = {str(one.get("campaign_id")): one.get("info") for one in known}
        info = one if isinstance(one := about.get(name), dict) else {}
        usual = Role.NAMES_SHOWN if info.get("show_model_names") else Role.JUDGMENT
        likely = "ESA" if b'"start_i"' in file.head() else "DA"
        label = str(info.get("protocol") or likely).replace("MQM", "score")
        texts = list[Row]()
        for line, row in rows_of(file, made):
            try:
                for text in list(_document(row, label, usual)):
                    texts.append({**text, "file": n, "row": line})
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                what = f"This is no document that can be read: {error}."
                made.report(file.name, line, "annotation", what)
        n_sources = Counter(n for n, _ in {(t["instance"], t["source"]) for t in texts})
        for text in texts:
            if n_sources[text["instance"]] > 1:  # numbered within documents
                text["instance"] = text["source"]
        add_rows(made, texts, file.name)
        made.scales = {} if label == "score" else {label: "0 to 100"}


def _document(row: Mapping[str, Any], label: str, usual: Role) -> Iterator[Row]:
    worker, page, answers, items = (row[name] for name in _NAMES)
    if "" in (worker, page) or len(items) != len(answers):
        raise ValueError("it needs user_id, item_i, and an annotation for each item")
    role = next((_ASIDE[k] for k in _ASIDE if page.startswith(k)), usual)
    ids = [str(x.get("item_id") or x.get("src") or x.get("tgt")) for x in items]
    times = [number_of(one.get("time")) for one in row.get("actions") or [{}]]
    n_texts = sum(len(answer or ()) for answer in answers)
    for item, instance, answer in zip(items, ids, answers, strict=True):
        for system, output in (item.get("tgt") or {}).items():
            if not (said := (answer or {}).get(system)):
                continue
            spans = inclusive(said.get("error_spans") or (), str(output))
            values = {**(said.get("sliders") or {}), label: said.get("score")}
            if label == "score" and not number_of(said.get("score")):
                del values[label]  # of MQM, 0 is no score
            if label != "DA":
                values["MQM"] = mqm_score(spans)
            planted = role is usual and system in (item.get("validation") or ())
            yield {
                "role": (Role.PLANTED if planted else role).value,
                "worker": str(worker),
                "account": str(worker),
                "instance": instance,
                "system": system,
                "page": page,
                "document": ids[0] if len(ids) > 1 else "",
                "at": times[-1],
                "seconds": (times[-1] - times[0]) / n_texts,
                "spans": spans,
                "output": str(output),
                "source": str(item.get("src") or ""),
                "values": values,
            }
