"""The segments that ratings of translations are of, and their texts."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from leaderboard.files import File, refuse
from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.readers.sources import pairs_in
from leaderboard.tables import read_json

Row = dict[str, Any]
# Numbers that come again with other systems or documents do so at least so often.
_AGAIN = 1.1
# A number this many times the rows of an account counts none of them.
_BEYOND = 20


def add_texts(rows: Sequence[Row], files: Sequence[File]) -> None:
    """Add "output", "source" and "instance", or "", from batches of Appraise.

    Numbers of items repeat, so an account has the batch with most of its items.
    """
    tasks = []
    for file in files:
        for task in read_json(file) if b'"itemID"' in file.head() else ():
            items = task.get("items") if isinstance(task, dict) else ()
            items = items if isinstance(items, list) else ()
            shown = [one for one in items if isinstance(one, dict)]
            keys = [(str(x.get("itemID")), str(x.get("documentID"))) for x in shown]
            tasks.append(dict(zip(keys, shown, strict=True)))
    accounts = defaultdict(list)
    for row in rows:
        accounts[row["account"]].append(row)
    for own in accounts.values():
        rated = {(row["item"], row["page"]) for row in own}
        best = max(tasks, key=lambda task: len(task.keys() & rated), default={})
        for row in own:
            item = best.get((row["item"], row["page"]), {})
            row["output"] = str(item.get("targetText") or "")
            row["source"] = str(item.get("sourceText") or "")
            number = re.search(r"\| (\d+) \|", str(item.get("_item")))
            row["instance"] = str(int(number[1]) + 1) if number else ""


def name_segments(
    rows: Sequence[Row],
    files: Sequence[File],
    made: Judgments,
    accounts: str = "",
    *,
    apart: bool = False,
) -> None:
    """Add missing "instance": the item, with its document if items count within these.

    Tables of segment, document and domain list those of the test set. `accounts` names
    a file whose items may count within accounts, which is refused: "no-position"; with
    `apart`, each account's are items of no other account.
    """
    documents = pairs_in(files, "segment", "document")
    domains = pairs_in(files, "segment", "domain")
    rows = [row for row in rows if not row.get("instance")]
    real = [row for row in rows if row["role"] == "judgment"]

    def n(*names: str) -> int:
        return len({tuple(row[name] for name in names) for row in real})

    through = n("item") == n("item", "document")
    if accounts and n("system") > 1:
        through &= n("item", "system") > _AGAIN * n("item")
    if documents:
        through = all(documents.get(row["item"]) == row["document"] for row in real)
    through |= not any(row["document"] for row in real)
    most = max(Counter(row.get("account") for row in real).values(), default=0)
    beyond = [r["item"].isdigit() and int(r["item"]) > _BEYOND * most for r in real]
    # one may be a slip
    through |= bool(accounts) and sum(beyond) > len(real) / 2
    names = ("account", "item", "document")
    if accounts and not (through or apart) and (n(*names) < _AGAIN * n(*names[:2])):
        message = (
            "items are numbered within an account, so which segment a row is of is not "
            "known; add the batches (JSON) that the accounts were given, or put the "
            "number of the segment in the test set into the column item (the third); "
            "--choose items=apart compares no outputs of one segment"
        )
        raise refuse("no-position", message, accounts)
    for row in rows:
        item, document = row["item"], row["document"]
        own = f"{row['account']}:" if apart else ""
        row["instance"] = own + (item if through else f"{document}:{item}")
        if row["role"] in ("tutorial", "document"):
            row["instance"] = document or item
    named = {row["instance"] for row in real}
    made.domains = {name: domains[name] for name in sorted(named & domains.keys())}
