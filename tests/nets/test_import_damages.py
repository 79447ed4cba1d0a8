"""Folders of other years, whole and damaged: no number may be wrong without a word."""

import random
import re
from collections import Counter

import pytest

from genie.lib.errors import GenieError
from leaderboard.imports.readers.layout import all_layouts
from leaderboard.imports.readers.read import layout_of, propose
from leaderboard.imports.readers.sources import sources_in
from leaderboard.imports.selectors import About
from leaderboard.imports.services.plan import preview_import
from tests.nets.import_damages import CAREFUL, HARMLESS, damage
from tests.nets.years import Rating, folders, summarize

SEEDS = range(4)  # range(10, 20) once, at the end
KNOWN: dict[object, list[str]] = {}  # problems of the whole folder
CAMPAIGN = re.compile(r"^wmt\d+\.|(\.\d+)+$")  # and the number of a run


def read(path, roles, choices):
    """Return what is shown of a folder before anything is stored.

    `roles`: column of the main file -> system, item, rater or rating. The keys are those
    of `summarize`, and `problems`: the sentences shown. A refused folder has these alone.
    """
    try:
        files = sources_in(path)
        given = choices
        if layout_of(files) not in all_layouts():
            sets = [choices[k] for k in ("pair", "data_set") if k in choices]
            given = {"lost": "yes", "set": "".join(sets).replace("-", "")}
            given |= {"raw": "yes"} if choices.get("values") == "raw" else {}
        found = propose(files, choices=given)
        asked = [
            one.question
            for one in found.questions
            if one.needed and one.name != "ranks"
        ]
        if found.judgments is None or asked:
            return {"problems": asked}
        about = About(choices={"same_systems": "no", "same_raters": "no"})
        seen, more = preview_import(found.judgments, slug="x", about=about, files=files)
    except GenieError as error:
        return {"problems": [error.message]}
    told = [
        *map(str, found.judgments.problems),
        *seen.refused,
        *(q.question for q in more),
    ]
    rows = found.judgments.judged
    rows = rows[rows["value"].notna() & (rows["system"] != "")]
    if "ESA" in set(rows["criterion"]):
        rows = rows[rows["criterion"] == "ESA"]  # and not what its errors cost
    ratings = [
        Rating(system, rater, item, criterion or "preference" * bool(other), value)
        for system, rater, item, criterion, value, other in rows[
            ["system", "worker", "instance", "criterion", "value", "other"]
        ].itertuples(index=False)
    ]
    turned = [
        one._replace(system=other, value=1 - one.value)
        for one, other in zip(ratings, rows["other"], strict=True)
        if other
    ]
    return {**summarize([*ratings, *turned]), "problems": told}


def read_folder(path, folder, data):
    for name, own in {**folder.files, folder.main: data}.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.with_suffix(".xlsx" if own[:2] == b"PK" else file.suffix).write_bytes(own)
    return read(path, folder.roles, folder.choices)


def numbers(summary):
    tables = [{"": summary["n_ratings"]}, {"": summary["n_raters"]}, summary["n_items"]]
    tables += [of[c] for of in (summary["n"], summary["mean"]) for c in sorted(of)]
    return [{CAMPAIGN.sub("", s): round(abs(of[s]), 6) for s in of} for of in tables]


def outcome(name, folder, path, k):
    """Return "right", "shown" or "silent", or "" for a damage that does not apply."""
    whole = folder.files[folder.main]
    made = damage(name, whole, random.Random(f"{name} {k}"), *folder[4:])
    if made is None:
        return ""
    data, right, word = made
    if path not in KNOWN:
        KNOWN[path] = read_folder(path / "whole", folder, whole)["problems"]
    own = read_folder(path / name, folder, data)
    refused, new = "n" not in own, [x for x in own["problems"] if x not in KNOWN[path]]
    if not refused and numbers(own) in [numbers(one) for one in right]:
        return "right"
    shown = [x for x in new if refused or word in x]
    return "shown" if shown and name not in HARMLESS else "silent"


def _lines(path):
    for name in HARMLESS + CAREFUL:
        found = Counter(
            f"{folder.layout} {got}"
            for k in SEEDS
            for folder in folders(k)
            if (got := outcome(name, folder, path / f"{folder.layout}-{k}", k))
        )
        told = "; ".join(f"{of} {n}" for of, n in sorted(found.items()))
        yield f"{name}: {told}\n"


@pytest.mark.slow
@pytest.mark.django_db
def test_no_number_is_wrong_without_a_word(net, tmp_path):
    net("import-damages.txt", "".join(_lines(tmp_path)))
