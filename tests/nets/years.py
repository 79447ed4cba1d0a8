"""Folders in the layouts of WMT, AltTest and E2E, of years and campaigns that never were.

Seeds 0-9 are for development. Seeds 10-19 stay unseen: they are run once, at the end,
and their results are reported unchanged. The expected numbers come from the draws, not
from files or Genie, and count what the organizers count (SYSTEM and REPEAT; the last row).
"""

import csv
import io
import json
import random
from collections import defaultdict
from statistics import fmean, stdev
from typing import NamedTuple

CODES = ["isl", "hau", "zul", "ukr", "fra", "eng"]
WORDS = ["kalo", "Relvo", "DUNIM", "Étè", "mertin", "SAPA", "eth", "Vokalo"]
NAMES = ["{}", "{}-B", "{}_7b", "{}MT", "Online-{}", "{}-v1.5", "x{}", "{}2", "{}-en"]
TEXTS = ["été, naïve; 1,200.", '"The painted', 'He said: "‘Straße’', "a"]
DA = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"
KINDS = ["SYSTEM", "REPEAT", "REF", "BAD_REF"]
ITEM = ["itemID", "documentID", "itemType", "targetID", "targetText", "_item"]
SPAN = '[{"start_i":"missing","end_i":"missing","severity":"minor","error_type":null}]'
COSTS = {"Major": 5, "Minor": 1, "Fluency/Punctuation": 0.1, "Non-translation!": 25}
ERRORS = ["Accuracy Major", "Style Minor", "Fluency/Punctuation Minor", "Other Neutral"]
ERRORS += ["Non-translation! Major"]
STEMS = {"natur": "naturalness", "qual": "quality", "inf": "informativeness"}


class Rating(NamedTuple):
    system: str
    rater: str
    item: object
    criterion: str
    value: float
    rows: tuple = ()  # of the main file, from 0 below the header
    column: object = None


class Folder(NamedTuple):
    layout: str
    files: dict[str, bytes]
    main: str  # the file to damage
    choices: dict  # what the files cannot tell
    roles: dict  # column of the main file -> role; a number from 0 if it has no header
    ratings: list[Rating]
    scale: tuple | None = None  # least and greatest rating


def summarize(ratings):
    """Compute numbers and means; a preference is 1, .5 or 0 for each of two systems."""
    values, items = defaultdict(lambda: defaultdict(list)), defaultdict(set)
    for one in ratings:
        values[one.criterion][one.system].append(one.value)
        items[one.system].add(one.item)
    return {
        "n_ratings": sum(1 - (x.criterion == "preference") / 2 for x in ratings),
        "n_raters": len({x.rater for x in ratings}),
        "n_items": {system: len(ids) for system, ids in items.items()},
        "n": {c: {s: len(x) for s, x in y.items()} for c, y in values.items()},
        "mean": {c: {s: fmean(x) for s, x in y.items()} for c, y in values.items()},
    }


def folders(seed: int) -> list[Folder]:
    """Return a folder of each layout; four consecutive seeds have all its forms."""
    layouts = direct_assessment, error_spans, error_rows, alt_test, rating_pages
    rngs = [random.Random(f"{layout.__name__} {seed}") for layout in layouts]
    return [layout(rng, seed % 4) for layout, rng in zip(layouts, rngs, strict=True)]


def draw_names(rng, low, high):
    forms = rng.sample(NAMES, rng.randint(low, high))
    return [form.format(rng.choice(WORDS)) for form in forms]


def draw_ratings(rng, systems, raters, most, criteria=("score",), ends=(0, 100)):
    """Return ratings; each document of a system has one to `most` raters."""
    shares, n = [], 0
    for k in range(rng.randint(4, 7)):
        document, first = f"{rng.choice(['news', 'talk'])}-{k * 37}", n + 1
        n += rng.randint(2, 6)
        items = [(j, document) for j in range(first, n + 1)]
        for system in systems:
            for rater in rng.sample(raters, rng.randint(1, most)):
                keys = [(system, rater, item, c) for item in items for c in criteria]
                shares.append([Rating(*x, rng.randint(*ends)) for x in keys])
    return [one for share in rng.sample(shares, len(shares)) for one in share]


def to_csv(*rows, mark=",", style=csv.QUOTE_MINIMAL):
    out, sign = io.StringIO(), None if style == csv.QUOTE_NONE else '"'
    writer = csv.writer(out, "unix", delimiter=mark, quoting=style, quotechar=sign)
    writer.writerows(rows)
    return out.getvalue().encode()


def direct_assessment(rng, form, other=0):
    """Return WMT's z-scores, quoted or not, and what makes them raw scores again."""
    source, target = (code[:2] for code in rng.sample(CODES[other::2], 2))
    systems = [f"{x}.{k}" for k, x in enumerate([*draw_names(rng, 4, 8), "HUMAN-A"])]
    raters = [f"M{n:05d}" for n in rng.sample(range(99999), rng.randint(4, 14))]
    rows, known, ratings = [], {}, []
    for one in draw_ratings(rng, systems, raters, 3):
        for kind in dict.fromkeys(["SYSTEM", rng.choice(KINDS)]):
            known.setdefault(one.rater, []).append(score := rng.randint(0, 100))
            if kind in KINDS[:2]:
                ratings.append(Rating(*one[:4], score, (len(rows),), "score"))
            hit, rid = f"H{one.rater}", 1000 * len(kind) + len(one.item[1])
            row = [hit, one.rater, source, target, "ad", len(rows) // 50, one.system]
            rows.append([*row, rid, kind, one.item[0], score, 9.5 * len(hit)])
    for rater, own in known.items():
        known[rater] = rater, round(fmean(own), 5), round(stdev(own), 5)
    for row in rows:
        row[10] = (row[10] - known[row[1]][1]) / known[row[1]][2]
    known["M99999"] = "M99999", 0, 0  # without z: the organizers dropped the rows
    pair, main = f"{source}-{target}", f"ad-{source}{target}-good-stnd.csv"
    style = csv.QUOTE_NONNUMERIC if form & 1 else csv.QUOTE_MINIMAL  # as R writes
    files = {main: to_csv(DA.split(), mark=" ", style=style)}
    files[main] += to_csv(*rows, mark="\t", style=style)
    known = [["worker", "mean", "sd"], *known.values()]
    files[f"worker-mean-sd-{pair}.csv"] = to_csv(*known)
    files |= direct_assessment(rng, form, 1).files if form & 2 and not other else {}
    roles = {"sys_id": "system", "WorkerId": "rater", "sid": "item", "score": "rating"}
    choices = {"pair": pair, "values": "raw"}
    return Folder("wmt-da", files, main, choices, roles, ratings)


def error_spans(rng, form):
    """Return Appraise's ESA: items are segments, or places in a task, told by its batch."""
    numbered, year = form & 1, rng.randrange(25, 40)
    source, target, other = rng.sample(CODES, 3)
    prefix, lesson = "" if numbered else f"wmt{year}.", "ende-tutorial1"
    drawn = draw_ratings(rng, [*draw_names(rng, 4, 7), "refA"], ["A1"], 1)
    rows, batches, people, files = [], [], {}, {}
    size, clock = rng.randint(25, 40), 1_900_000_000
    kinds = {"#bad1": "BAD", "#incomplete" if numbered else "#duplicate1": "TGT"}
    practice = [Rating(lesson, "", (10**6 + k, lesson), "", 7) for k in (1, 2, 3)]
    for at in range(0, len(drawn), size):  # two accounts may share a document
        own, items = drawn[at : at + size], []
        login = f"{source}{target}{len(people):04x}"
        people[login] = f"A{len(people) // 2:02d}" if form & 2 else login
        task = [(one, "") for one in practice + own] + [*zip(own, kinds, strict=False)]
        for place, (one, mark) in enumerate(task, start=1):
            real, (n, document) = one not in practice, one.item
            name, kind = prefix * real + one.system, kinds.get(mark, "TGT")
            shown = document + (f"#{one.system}" if real and prefix else "") + mark
            row = [login, name, n if numbered else place, kind, source]
            scores = [3, one.value] if one is own[0] and not mark else [one.value]
            for again, score in enumerate(scores, start=1):  # the last holds
                clock += rng.randint(3, 90)
                end = shown, False, rng.choice(["[]", SPAN]), clock, clock + 0.25
                counts = real and not mark and again == len(scores)
                rows.append(([*row, target, score, *end], one if counts else None))
                if numbered:  # another pair in the same file
                    rows.append((["x", *row[1:], other, score, *end], None))
            item = [place, shown, kind, name, rng.choice(TEXTS)]
            item += [f"{one.system} | {n} | {document}"] if real else []
            items.append(dict(zip(ITEM, item, strict=False)))
        batches.append({"task": len(people), "items": items})
    if not numbered:
        rows, files = rows[::-1], {"batches_esa.json": json.dumps(batches).encode()}
    if form & 2:
        files["annotators.csv"] = to_csv(["login", "annotator"], *people.items())
    main = f"esa_generalMT20{year}.csv" if numbered else f"{year}0315rc7ESA.scores.csv"
    files[main] = to_csv(*(row for row, _ in rows))
    counted = [(k, people[row[0]], one) for k, (row, one) in enumerate(rows) if one]
    ratings = [x._replace(rater=rater, rows=(k,), column=6) for k, rater, x in counted]
    roles = {0: "rater", 1: "system", 2: "item", 6: "rating"}
    choices = {"pair": f"{source}-{target}"} if numbered else {}
    return Folder("wmt-esa", files, main, choices, roles, ratings, (0, 100))


def error_rows(rng, form):
    """Return MQM: a row is an error, and a rating is the sum of its rows' penalties."""
    ids = ["docSegId", "globalSegId"] if form & 1 else ["doc_id", "seg_id"]
    head = ["system", "doc", *ids, "rater", "source", "target", "category", "severity"]
    raters = [f"rater{k}" for k in rng.sample(range(1, 20), rng.randint(3, 8))]
    rows, ratings, systems = [], [], [*draw_names(rng, 3, 7), "ref"]
    for one in draw_ratings(rng, systems, raters, 2, ["MQM"]):
        (n, doc), start, total = one.item, len(rows), 0
        errors = rng.choices(ERRORS, k=rng.choice([0, 1, 2]))
        for error in errors or ["No-error No-error"]:
            category, severity = error.split()
            total += COSTS.get(category, COSTS.get(severity, 0))
            text = f"{rng.choice(TEXTS)} <v>{len(rows)}</v>"
            row = [one.system, doc, n % 9, n, one.rater, f"{doc}.", text, category]
            rows.append([*row, severity.lower() if form & 2 else severity])
        where = [tuple(range(start, len(rows))), "severity"]
        ratings.append(Rating(*one[:4], round(total, 6), *where))
    roles = {"system": "system", "rater": "rater", ids[1]: "item", "severity": "rating"}
    data = to_csv(head, *rows, mark="\t", style=csv.QUOTE_NONE)
    files = {f"mqm_general20{rng.randrange(25, 40)}_zuuk.tsv": data}
    return Folder("mqm-tsv", files, *files, COSTS, roles, ratings)


def alt_test(rng, form):
    """Return labels by people and programs; ids hold text, system and criterion or rival."""
    systems, sets, files = draw_names(rng, 4, 9), draw_names(rng, 2, 2), {}
    people, programs = [f"h{k}" for k in range(rng.randint(2, 8))], ["zeta_x", "orca"]
    criteria = rng.sample(["coherence", "tone", "clarity"], rng.randint(1, 3))
    criteria, ends = ["preference"] if form == 3 else criteria, (1, rng.choice([5, 7]))
    labels, ratings = {who: {} for who in people + programs}, []
    for one in draw_ratings(rng, systems, list(labels), len(labels), criteria, ends):
        key, label = [f"{one.item[1]}-{one.item[0]}", one.system], one.value
        two, rival = [one], systems[systems.index(one.system) - 1]
        if form == 3:
            label, won = rng.choice([("model_a", 1), ("model_b", 0), ("tie", 0.5)])
            two = [one._replace(value=won), one._replace(system=rival, value=1 - won)]
        key += [rival, "1"] if form == 3 else [one.criterion]
        labels[one.rater]["__".join(key)] = label
        ratings += two if one.rater in people else []
    for name in sets[: 1 + (form & 1)]:
        for kind, own in {"human": people, "llm": programs}.items():
            data = json.dumps({who: labels[who] for who in own}).encode()
            files[f"{name}/{kind}_annotations.json"] = data
    choices = {"data_set": sets[0]} if form & 1 else {}
    return Folder("alt-test", files, next(iter(files)), choices, {}, ratings)


def rating_pages(rng, form):
    """Return RankME's rows of outputs, or E2E's pages: a row each, outputs side by side."""
    systems, slots = draw_names(rng, 5, 9), range(1, rng.randint(3, 6))
    raters = [f"W{k:03d}" for k in rng.sample(range(1, 200), rng.randint(5, 15))]
    stems = rng.sample(list(STEMS), 1 if form & 1 else rng.randint(1, 3))
    criteria, rows, ratings = [STEMS[stem] for stem in stems], [], []
    roles, time = {"worker": "rater", "mr_id": "item"}, "12/09/2031 03:28:06"
    if not form & 1:
        scale, n = (1, 6) if form else None, len(criteria)
        drawn = draw_ratings(rng, systems, raters, 3, criteria, scale or (10, 120))
        for own in [drawn[k : k + n] for k in range(0, len(drawn), n)]:
            ratings += [x._replace(rows=(len(rows),), column=x.criterion) for x in own]
            row = [len(rows), own[0].item[0], own[0].system, "", own[0].rater, time]
            rows.append([*row, *(x.value for x in own)])
        head = ["judgement", "mr_id", "system", "position", "worker", "time", *criteria]
        roles |= {"system": "system"} | dict.fromkeys(criteria, "rating")
        files = {f"setup9_{'likert' if form else 'plainme'}.csv": to_csv(head, *rows)}
        return Folder("rankme", files, *files, {}, roles, ratings, scale)
    for page, rater in [(k, x) for k in range(20) for x in rng.sample(raters, 3)]:
        shown = [systems[(page * 2 + k) % len(systems)] for k in slots]
        values = [rng.randint(10, 120) for _ in slots]
        for k, system, value in zip(slots, shown, values, strict=True):
            where = (len(rows),), f"{stems[0]}{k}"
            ratings.append(Rating(system, rater, page, criteria[0], value, *where))
        row = [f"P{page}", f"J{len(rows)}", rater, time, 1.0, page, "near[x], area[y]"]
        rows.append([*row, *values, *shown, *rng.choices(TEXTS, k=len(slots))])
    head = ["page", "judgment", "worker", "started_at", "trust", "mr_id", "mr"]
    head += [f"{stem}{k}" for stem in (stems[0], "sys", "ref") for k in slots]
    for k in slots:
        roles |= {f"sys{k}": "system", f"{stems[0]}{k}": "rating"}
    files = {f"{criteria[0]}.csv": to_csv(head, *rows)}
    return Folder("e2e-pages", files, *files, {}, roles, ratings)
