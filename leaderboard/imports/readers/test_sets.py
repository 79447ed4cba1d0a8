"""The texts and documents of a test set, from files beside the ratings."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from leaderboard.imports.readers.sources import Source


@dataclass(frozen=True)
class Segment:
    """One text of a test set; `instance` is its number, from 1 if the file has it."""

    instance: str
    document: str
    domain: str = ""


def segments_of(sources: Sequence[Source], pair: str = "") -> list[Segment]:
    r"""Return the document of each segment, in the order of the test set.

    It reads a `*.docs` file of mt-metrics-eval (one line per segment: domain,
    document), of several the one with `pair` in its name, such as "en-de", or a table
    with the columns segment, domain, document. A first line "canary" is number 0 and
    left out.

    Examples
    --------
    >>> segments_of([Source("en-de.docs", b"news\td1\nnews\td2\n")])[1]
    Segment(instance='2', document='d2', domain='news')
    """
    listed = [s for s in sources if s.ending == "docs"]
    of_pair = [s for s in listed if pair and pair in s.stem]
    for source in (of_pair or listed)[:1]:
        cells = [line.split("\t") for line in source.lines() if line.strip()]
        first = 0 if cells and is_canary(cells[0][0]) else 1
        return [
            Segment(str(number), row[-1], row[0] if len(row) > 1 else "")
            for number, row in enumerate(cells, first)
            if number
        ]
    for source in sources:
        if source.lines(1) == ["segment\tdomain\tdocument"]:
            table = source.table("\t")
            return [
                Segment(number, document, domain)
                for number, domain, document in zip(
                    table["segment"], table["domain"], table["document"], strict=True
                )
                if not is_canary(domain)
            ]
    return []


def is_canary(text: str) -> bool:
    """Check whether a line exists only to be found in training data.

    Examples
    --------
    >>> is_canary("canary 26b5c67b-86a6-4f5f")
    True
    """
    return text.strip().lower().startswith("canary")


@dataclass
class Batch:
    """The items that one account was shown, by (item, document), as in the file."""

    items: dict[tuple[str, str], dict[str, object]] = field(default_factory=dict)


def batches_of(sources: Sequence[Source]) -> list[Batch]:
    """Read the batches of Appraise beside its scores.

    They are JSON files with lists of tasks with "items"; duplicates are left out.

    Examples
    --------
    >>> text = b'[{"items": [{"itemID": 1, "documentID": "d1#red", "targetText": "Hi"}]}]'
    >>> list(batches_of([Source("batches.json", text)])[0].items)
    [('1', 'd1#red')]
    """
    found: list[Batch] = []
    read: list[object] = []
    for source in sources:
        if source.ending != "json" or '"itemID"' not in source.head:
            continue
        tasks = source.json()
        if not isinstance(tasks, list) or tasks in read:
            continue
        read.append(tasks)
        for task in tasks:
            items = task.get("items", []) if isinstance(task, dict) else []
            if items:
                found.append(
                    Batch(
                        {
                            (str(item["itemID"]), str(item.get("documentID", ""))): item
                            for item in items
                            if isinstance(item, dict) and "itemID" in item
                        }
                    )
                )
    return found


def batch_of_accounts(
    batches: Sequence[Batch], shown: Mapping[str, Iterable[tuple[str, str]]]
) -> dict[str, Batch]:
    """Return the batch that each account worked on, by the items that it scored.

    `shown` maps accounts to (item, document) of their rows. Accounts whose items are in
    no batch are left out.

    Examples
    --------
    >>> one = Batch({("1", "d1#red"): {}})
    >>> batch_of_accounts([one], {"a": [("1", "d1#red")], "b": []}) == {"a": one}
    True
    """
    where: dict[tuple[str, str], list[int]] = {}
    for number, batch in enumerate(batches):
        for key in batch.items:
            where.setdefault(key, []).append(number)
    found = {}
    for account, keys in shown.items():
        votes = Counter(number for key in keys for number in where.get(key, ()))
        if votes:
            found[account] = batches[votes.most_common(1)[0][0]]
    return found
