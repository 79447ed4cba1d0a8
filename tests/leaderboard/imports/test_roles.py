"""Files of ratings in any shape: roles guessed from names and values, and asked."""

import csv
import io
import json
import random
from functools import partial

import pytest

from genie.lib.errors import GenieError
from leaderboard.files import File
from leaderboard.imports.readers.columns import propose
from leaderboard.imports.readers.expand import order_of, read_tables
from leaderboard.imports.readers.mapping import parse, to_toml
from leaderboard.imports.readers.read import propose as propose_any
from leaderboard.imports.readers.words import scale_of, side_of

R = random.Random(4)
SCORES = [[R.randint(1, 5) for _ in range(3)] for _ in range(12)]
MODELS = ("gpt", "bart")


def text():
    return " ".join(
        R.choice(["the", "old", "cat", "sat", "on", "a", "mat", "near", "two", "dogs"])
        for _ in range(9)
    )


def table(head, rows, name="ratings.csv"):
    out = io.StringIO()
    csv.writer(out).writerows([head.split(";" if ";" in head else None), *rows])
    return File(name, partial(io.BytesIO, out.getvalue().encode()))


def as_json(value, name="ratings.json"):
    return File(name, partial(io.BytesIO, json.dumps(value).encode()))


def lines(*keys):
    """Yield items with each of some systems, or of other names."""
    for i in range(12):
        for key in keys:
            yield i, key


PAIRS = [(i, w, *R.sample(MODELS, 2), R.choice("AB")) for i, w in lines("u", "v")]
LONG = [[s, i, r, R.randint(1, 5)] for i, s in lines(*MODELS) for r in "uv"]
WORST = [(i, w, *R.sample("abcd", 2), *"abcd") for i, w in lines("u", "v")]
LISTED = [
    {"id": i, "outputs": [{"system": s, "text": text(), "ratings": [
        {"rater": r, "fluency": R.randint(1, 5)} for r in "uv"]} for s in MODELS]}
    for i in range(12)
]  # fmt: skip
HIT = "HITId WorkerId Input.system Input.id Answer.quality.1 Answer.quality.2 Answer.quality.3"
MARKS = [(f"H{i}", f"W{i % 3}", s, i, *R.sample(["true", "false", "false"], 3))
         for i, s in lines(*MODELS)]  # fmt: skip

# Files and choices, the roles of columns, and how many ratings of what there are.
SHAPES = {
    "long": ([table("sys_name segment rater_id score", LONG)], {}, "system item rater rating", 48),
    "a column per system": (
        [table("item GPT4 BART T5", [[i, *s] for i, s in enumerate(SCORES)])],
        {"names": "systems"}, "item rating rating rating", 36),
    "a column per rater": (
        [table("system item alice bob", [[s, i, 1 + i % 3, 3] for i, s in lines(*MODELS)])],
        {"names": "raters"}, "system item rating rating", 48),
    "numbered raters and their mean": (
        [table("system item annotator1 annotator2 average",
               [[s, i, a, b, (a + b) / 2] for (i, s), (a, b, _) in
                zip(lines(*MODELS), SCORES * 2, strict=True)])],
        {}, "system item rating ignore", 48),
    "criteria of numbered raters": (
        [table("system item fluency_1 fluency_2 adequacy_1 adequacy_2",
               [[s, i, 1, 2 + i % 3, 4, 5] for i, s in lines(*MODELS)])],
        {"ranks": "fluency"}, "system item rating rating", 96),
    "systems and criteria in names": (
        [table("id red-fluency blue-fluency red-adequacy blue-adequacy",
               [[i, 1 + i % 4, 2, 3, 4] for i in range(12)])],
        {"ranks": "adequacy"}, "item rating", 48),
    "pairs, side in words": (
        [table("id annotator left_model right_model choice", PAIRS)],
        {}, "item rater system 1 system 2 choice", 24),
    "pairs, minus one to one": (
        [table("id rater model_a model_b preference",
               [[i, "u", *MODELS, i % 3 - 1] for i in range(12)])],
        {"words": "-1=first, 0=tie, 1=second"}, "item rater system 1 system 2 choice", 12),
    "pairs of two names": (
        [table("id worker better", [[i, "u", R.choice(MODELS)] for i in range(12)])],
        {"system 1": ":gpt", "system 2": ":bart"}, "item rater choice", 12),
    "best and worst": (
        [table("item worker best worst system1 system2 system3 system4", WORST)],
        {}, "item rater best worst system", 24 * 5),
    "a file per system": (
        [table("item rater fluency", [[i, r, 1 + i % 4] for i, r in lines("u", "v")], f"{s}.csv")
         for s in MODELS],
        {"system": "file"}, "item rater rating system ignore", 48),
    "all rows of one system": (
        [table("item rater fluency", [[i, r, 1 + i % 4] for i, r in lines("u", "v")])],
        {"system": ":NAME"}, "item rater rating", 24),
    "a list of outputs, each with raters": ([as_json(LISTED)], {}, "item system text rater rating",
                                            48),
    "marked boxes": ([table(HIT, MARKS)], {}, "ignore rater system item rating", 24),
    "words": (
        [table("model item rater fluency",
               [[s, i, "u", R.choice(["Bad", "Good"])] for i, s in lines(*MODELS)])],
        {"words": "bad=1,good=2"}, "system item rater rating", 24),
    "lettered systems": (
        [table("person Q1_A Q1_B Q1_C Q2_A Q2_B Q2_C", [[f"p{i}", *s, *s] for i, s in
                                                         enumerate(SCORES)])],
        {"rating": "Q{item}_{system}"}, "ignore rating", 72),
    "a grid of ranks": (
        [table("when;who;Rank these [Ada];Rank these [Bob];Rank these [Cy]",
               [["", f"p{i}", *R.sample([1, 2, 3], 3)] for i in range(12)])],
        {}, "ignore rater rating", 36),
    "places": (
        [table("item annotator 1st 2nd 3rd",
               [[i, r, *R.sample(["gpt", "bart", "t5"], 3)] for i, r in lines("u", "v")])],
        {}, "item rater system rating", 72),
    "an order in a cell": (
        [table("item annotator ranking",
               [[i, r, " > ".join(R.sample(["gpt", "bart", "t5"], 3))] for i, r in lines("u", "v")])],
        {}, "item rater system rating", 72),
    "the chosen and the rejected": (
        [table("item annotator chosen rejected",
               [[i, r, *R.sample(MODELS, 2)] for i, r in lines("u", "v")])],
        {}, "item rater best worst", 24),
    "codes with a key": (
        [table("item rater code score", [[i, "u", s[:1], i % 5] for i, s in lines(*MODELS)]),
         table("code;system", [["g", "gpt"], ["b", "bart"]], "key.csv")],
        {}, "item rater ignore rating ignore ignore system", 24),
    "two that are rated each": (
        [table("item rater model_a model_b fluency_a fluency_b",
               [[i, r, *R.sample(MODELS, 2), *R.sample([1, 2, 3, 4, 5], 2)]
                for i, r in lines("u", "v")])],
        {}, "item rater system 1 system 2 rating rating", 48),
    "a grid of forms": (
        [table("who;Text ada [Fluent?];Text ada [True?];Text bob [Fluent?];Text bob [True?]",
               [[f"p{i}", *R.choices([1, 2, 3, 4], k=4)] for i in range(12)])],
        {"ranks": "Fluent?"}, "rater rating", 48),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_files_of_each_shape_are_read(shape):
    files, choices, roles, n = SHAPES[shape]
    found = propose(files, choices)
    assert " ".join(one.role for one in found.columns) == roles
    assert [one.name for one in found.questions if one.needed] == []
    rows = found.judgments.rows
    assert rows["value"].notna().sum() == n
    assert (rows["system"] != "").all()
    again = propose(files, parse(to_toml(choices).encode(), "mapping.toml"))
    assert again.judgments.rows.equals(rows)


@pytest.mark.parametrize("shape", [s for s, one in SHAPES.items() if one[1]])
def test_what_files_cannot_tell_is_asked(shape):
    files, choices, _, _ = SHAPES[shape]
    asked = {one.name for one in propose(files, {}).questions if one.needed}
    # what names say is seen where systems, or else criteria, are asked for
    wanted = {"systems": {"system"}, "raters": {"ranks"}}.get(choices.get("names"))
    if choices.get("system", "").startswith((":", "file")):
        wanted = {"system"}
    assert asked == (wanted or {*choices})


def test_one_answer_confirms_the_guesses_beside_it():
    rows = [[i, r, 1 + i % 4, 3] for i, r in lines("u", "v")]
    files = [table("item rater fluency clarity", rows)]
    found = propose_any(files, choices={"system": ":x"})
    assert [one.name for one in found.questions if one.needed] == []
    assert found.mapping["ranks"] == "fluency"
    assert "Taken: fluency" in " ".join(map(str, found.judgments.problems))
    again = propose_any(files, choices=found.mapping)
    assert again.judgments.rows.equals(found.judgments.rows)


@pytest.mark.parametrize(
    ("words", "worths"),
    [
        ("correct,incorrect", [1, 0]),
        ("Not at all,Slightly,Very,Extremely", [1, 2, 3, 4]),
        ("Poor,Fair,Good,Very good,Excellent", [1, 2, 3, 4, 5]),
        ("★☆,★★", [1, 2]),
        ("A1,A5", [1, 5]),
    ],
)
def test_words_of_scales_are_in_their_order(words, worths):
    assert [*map(scale_of(words.split(",")).get, words.split(","))] == worths


def test_words_tell_sides():
    first = ("A>B", "A is better than B", "a_slight", "leftvote", "Win")
    assert [*map(side_of, first)] == [1.0] * 5
    assert [*map(side_of, ("B >> A", "gpt-2", "A=B"))][2] == 0.5


def judged(files, choices):
    return propose(files, choices).judgments.judged


ROWS = [(i, *R.sample("pqr", 2)) for i in range(24)]


def pairs_of(head, *rows, **choices):
    found = judged([table(head, rows)], choices)
    return found[["system", "other", "value"]].to_numpy().tolist()


def test_ends_are_of_the_two_sides_and_of_their_own_numbers():
    letters = pairs_of("id model_a model_b best worst", (1, "x", "y", "B", "A"))
    assert letters == [["y", "x", 1.0]]
    ends = {"best": "b1,b2", "worst": "w1,w2", "item": "id", "system": []}
    two = pairs_of("id b1 b2 w1 w2", (1, "x", "y", "z", "x"), **ends)
    assert two == [["x", "z", 1.0], ["y", "x", 1.0]]
    columns = [f"{end}{of}{n}" for of in "HC" for end in "BW" for n in (1, 2)]
    letters = [[i, *"xyzwzwxy"] for i in range(9)]
    found = pairs_of(f"id {' '.join(columns)}", *letters, system=":none")
    assert found[:4] == [
        ["x", "z", 1.0],
        ["y", "w", 1.0],
        ["z", "x", 1.0],
        ["w", "y", 1.0],
    ]
    rows = [(*row, 1 + row[0] % 4, 3) for row in ROWS]
    ranks = pairs_of("item left_model right_model left_rank right_rank", *rows)
    assert [value for *_, value in ranks[:4]] == [1.0, 1.0, 0.5, 0.0]
    scores = "item left_model right_model x y"
    found = pairs_of(scores, *rows, choice="x,y")
    assert [value for *_, value in found[:4]] == [0.0, 0.0, 0.5, 1.0]
    marks = [[R.sample([0, 0, 1, 2], 4), [*"wxyz"]] for _ in range(12)]
    found = judged([as_json(marks)], {})
    assert (len(found), found["value"].sum()) == (12 * 5, 12 * 3)
    best, worst = ("wxyz"[marks[0][0].index(k)] for k in (1, 2))
    columns = found[["system", "other", "value"]].itertuples(index=False, name=None)
    assert (best, worst, 1.0) in columns
    keys = {"choice": "{system_1}.vs.{system_2}", "words": '"so, so=tie"'}
    versus = pairs_of("id x.vs.y", (1, "X"), (2, "so, so"), **keys)
    assert versus == [["x", "y", 1.0], ["x", "y", 0.5]]


FILLED = "model id rater text_1 text_2 fluency_1 fluency_2", [
    [s, i, "u", text(), "BLANK" if i < 6 else text(), 1, 1 + i % 5] for i, s in lines(*MODELS)
]  # fmt: skip
TWO = "item fl[1][1] fl[1][2] fl[2][1] fl[2][2]", [(1, 1, 2, 4, 5), (2, 1, 3, 4, 5)]
AGAIN = "ResponseId C1_R1 C1_R2 C1_R2 C1_R3", [(f"R_{i}", 1, 2, 3, i) for i in range(4)]
RATERS = "system R1 R2 Mean", [("abc"[i % 3], i % 5, i % 4, (i % 5 + i % 4) / 2)
                               for i in range(12)]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "choices", "column", "n_by_name"),
    [
        (FILLED, {"counts": "text_{part}"}, "criterion", {"fluency": 36}),
        (FILLED, {"counts": "text_{item}", "words": "blank=none"}, "criterion", {"fluency": 36}),
        (TWO, {"rating": "fl[{system}][{rater}]"}, "system", {"1": 4, "2": 4}),
        (RATERS, {"rating": "R1,R2", "numbers": "raters"}, "worker", {"1": 12, "2": 12}),
        (AGAIN, {"system": ":x", "numbers": "items"}, "instance", {"1": 4, "2": 4, "2 (2)": 4, "3": 4}),
        (("red.x_1.u_s blue.x_1.u_s", [(2, 3)]), {"rating": "{system}.{item}.u_s"}, "system",
         {"red": 1, "blue": 1}),
        (RATERS, {}, "worker", {"1": 12, "2": 12}),
        (("Q 1 (M A) [f];Q 1 (M B) [f];Q 1 (M A) [f]", [(1, 2, 3)]),
         {"rating": "Q {} ({system}) [{criterion}]"}, "system", {"M A": 2, "M B": 1}),
        (("name score", [("x_a_b", 1), ("y_a_b", 2), ("x_c", 3)]),
         {"cells": "name={}_{system*}"}, "system", {"a_b": 2, "c": 1}),
    ],
)  # fmt: skip
def test_parts_of_names_are_as_chosen(file, choices, column, n_by_name):
    rows = judged([table(*file)], choices)
    assert rows[column].value_counts().to_dict() == n_by_name


def test_a_criterion_of_two_kinds_of_records_is_kept_apart():
    records = [{"id": i, "system": MODELS[i % 2], "overall": 1 + i % 3}
               | {"fluent" if i < 6 else "coherent": 4} for i in range(12)]  # fmt: skip
    rows = judged([as_json(records)], {"ranks": "fluent"})
    names = {
        "overall (beside fluent)",
        "overall (beside coherent)",
        "fluent",
        "coherent",
    }
    assert {*rows["criterion"]} == names


def test_two_numbers_and_fillers_are_asked():
    (asked,) = propose([table(*FILLED)], {}).questions
    assert (asked.name, asked.found) == ("counts", "text_{part}")
    asked = [one.name for one in propose([table(*AGAIN)], {}).questions]
    assert asked == ["numbers", "system"]
    codes = table("id Q1_1 Q1_2 Q2_1 Q2_2", [(i, i % 5, 3, i % 4, 1) for i in range(9)])
    (asked,) = propose([codes], {}).questions
    assert asked.options[-2:] == ("Q{criterion}_{part}", "Q{item}_{criterion}")
    (asked,) = propose([table(*TWO)], {"numbers": "systems"}).questions
    assert asked.options == ("fl[{system}][{rater}]", "fl[{rater}][{system}]")


@pytest.mark.parametrize(
    ("head", "rows", "asked"),
    [
        ("item opt_a opt_b winner loser", [(*row, *row[1:]) for row in ROWS], set()),
        ("item both plot", [(i, f"{a},{b}", (a, b)[i % 2]) for i, a, b in ROWS], set()),
        ("item other winner", [(i, a, R.choice([a, "me"])) for i, a, _ in ROWS], {"system 1"}),
        ("item x_a_id x_b_id score", [(*row, 40 - 7 * row[0]) for row in ROWS], {"words"}),
    ],
)  # fmt: skip
def test_two_systems_are_found_by_their_names_in_cells(head, rows, asked):
    found = propose([table(head, rows)], {})
    assert {one.name for one in found.questions if one.needed} == asked
    answers = {one.name: one.found for one in found.questions if one.needed}
    rows = judged([table(head, rows)], answers)
    assert len(rows) == rows["value"].count() == 24


def test_a_data_set_before_systems_is_asked():
    rows = [(f"{'xy'[i % 2]}_{s}_1", i, r, x) for s, i, r, x in LONG]
    files = [table("system item rater score", rows)]
    (asked,) = propose(files, {}).questions
    assert (asked.name, asked.found) == ("split", "after _")
    assert {*judged(files, {"split": "after _"})["system"]} == {
        f"{m}_1" for m in MODELS
    }
    assert len({*judged(files, {"split": "no"})["system"]}) == 4


def test_numbers_beside_named_ratings_are_ratings_of_one_scale_or_listed():
    rows = [(*one[:3], one[3], 6 - one[3], one[3] - 3) for one in LONG]
    files = [table("system item rater score other more", rows)]
    (asked,) = propose(files, {}).questions
    assert asked.options == ("score", "other")
    assert asked.question.endswith("the first of which ranks: more.")
    # one answer settles both: which columns are ratings, and which of them ranks
    found = propose(files, {"rating": "more,score"})
    assert not found.questions
    assert [*found.judgments.rows["criterion"].unique()] == ["more", "score"]
    files = [table("system item rater q_a q_b q_c", rows)]
    (asked,) = propose(files, {"rating": "q_{criterion}"}).questions
    assert (asked.name, asked.options) == ("ranks", ("a", "b", "c"))


def test_what_is_guessed_without_an_answer_is_shown_and_can_be_changed():
    rows = [
        [*one[:3], -9 if n < 3 else one[3], int(one[3] < 3)]
        for n, one in enumerate(LONG)
    ]
    files = [table("system item rater fluency error_score", rows)]
    found = propose(files, {"ranks": "fluency"})
    guesses = {one.name: (one.found, one.needed) for one in found.questions}
    assert guesses == {
        "words": ("-9=none", False),
        "lower_is_better": ("error_score", False),
    }
    assert found.judgments.lower_is_better == ("error_score",)
    assert found.judgments.rows["value"].min() == 0
    assert [str(one)[:33] for one in found.judgments.problems] == [
        "ratings.csv: -9 is far from the o",
        "ratings.csv: Lower is taken to be",
    ]
    no = {"ranks": "fluency", "words": {"-9": -9}, "lower_is_better": []}
    found = propose(files, no)
    assert (found.questions, found.judgments.lower_is_better) == ([], ())
    assert found.judgments.rows["value"].min() == -9


def test_two_groups_of_raters_are_not_pooled():
    rows = [{"system": s, "id": i, "experts": [{"fluency": 5}] * 2,
             "crowd": [{"fluency": 1}] * 3} for i, s in lines(*MODELS)]  # fmt: skip
    files = [as_json(rows)]
    (asked,) = propose(files, {}).questions
    both = ("experts[{rater}].{criterion}", "crowd[{rater}].{criterion}")
    assert (asked.name, asked.options) == (
        "rating",
        (*both, "experts[{}].{criterion},crowd[{}].{criterion}"),
    )
    for choice, n in zip(asked.options, (48, 72, 120), strict=True):
        assert len(judged(files, {"rating": choice})) == n


# Columns; their cells for a system, item, rater and score; roles; what is asked.
GUESSED = [
    ("system item who score", "s, i, r, x", "system item rater rating", ""),
    ("system item h score", "s, i, r + '7', x", "system item rater rating", ""),
    ("system item decoding score", "s, i, r, x", "system item ignore rating", "rater"),
    ("model item condition rater score", "'m', i, s, r, x", "system item ignore rater rating",
     "system"),
    ("system item rater value", "s, i, r, x - 2.5", "system item rater rating", ""),
    ("Input.model_type id original_id rater score", "s, (s, i, r), i, r, x",
     "system ignore item rater rating", ""),
    ("Model item Judge LLM_score Human_score", "s, (i, r), 'gpt-4', x, x",
     "system item ignore ignore rating", ""),
    ("system item judge score", "s, i, f'gpt-{r}', x", "system item rater rating", "counted"),
    ("system item rater is_onboarding score", "s, i, r, i < 2, x",
     "system item rater kind rating", ""),
    ("system item rater note answer", "s, i, r, f'n{x}', f'{x} : so'",
     "system item rater ignore rating", ""),
    ("system item rater rater_correct", "s, i, r, ('no', 'yes')[x > 3]",
     "system item rater rating", ""),
    ("systema0 systemb0 systema1 systemb1 ix0 ix1 good0 good1 sid",
     "s, MODELS[s == 'gpt'], 'x', 'y', i, i, x > 3, x > 2, (i, r)",
     "system 1 system 2 item choice ignore", "words"),
    ("system item rater Q3", "s, i, r, ('Very bad', 'Ok')[x > 3]", "system item rater rating", "words"),
    ("system item rater helpfulness verbosity", "s, i, r, 1 + x % 4, (x + i) % 5",
     "system item rater rating rating", "ranks"),
    ("system item rater fluency note solvable adequacy both",
     "s, i, r, x % 2, f'n{i}', int(x > 3), i % 2, int(x == 5) * (i % 2)",
     "system item rater rating ignore rating rating ignore", "ranks"),
    ("system item rater fluency adequacy quality", "s, i, r, x, 6 - x, x / 17 + i / 99",
     "system item rater rating rating ignore", "ranks"),
    ("system item sense_mean sense_std clarity_mean flaw_mean flaw_std",
     "s, (i, r), x / 3 + 3, x / 7, 5 - x / 3, x % 4 / 3, i / 9",
     "system item rating ignore rating rating ignore", "ranks"),
    ("system item rater native fluency adequacy hallucinated",
     "s, i, r, ('no', 'yes')[i % 2], x, 6 - x, ('no', 'yes')[x > 3]",
     "system item rater ignore rating rating rating", "ranks"),
    ("item judge sys1No sys1Name sys1rank sys2No sys2Name sys2rank sys3No sys3Name sys3rank",
     "i, (r, s), 7, 'a', x, i % 7, f's{i % 7}', 6 - x, 5, 'b', 3",
     "item rater ignore system rating ignore ignore", ""),
    ("sys_a;sys_b;review_id;rater;Which of A or B is the better one of these two?",
     "s, MODELS[s == 'gpt'], (i, s), r, ('A', 'B', 'Neither is')[x % 3]", "system 1 system 2 item rater choice", ""),
    ("system item rater marks", "s, i, r, f'{x}#{i}#3#'", "system item rater rating", "numbers"),
    ("system item scores auto_check.score", "s, (i, r), f'[{x}, {i % 5}, 3]', x", "system item rating ignore", ""),
    ("id. ID;token. Code;R1Q1. Bien ?;R2Q1. Bien ?;R3Q1. Bien ?",
     "(s, i, r), f'p{i}{s}{r}', *[f'{x} : bien'] * 3", "ignore rater rating", "numbers system"),
]  # fmt: skip


@pytest.mark.parametrize(("head", "cells", "roles", "asked"), GUESSED)
def test_columns_get_roles_from_their_names_and_values(head, cells, roles, asked):
    row = eval(f"lambda s, i, r, x: ({cells})")
    files = [table(head, [row(*one) for one in LONG])]
    found = propose(files, {})
    assert " ".join(one.role for one in found.columns) == roles
    questions = [one for one in found.questions if one.needed]
    assert " ".join(one.name for one in questions) == asked
    usual = {"words": "Neither is=tie,true=first,false=second", "system": ":NAME"}
    again = propose(files, {q.name: q.found or usual[q.name] for q in questions})
    assert not any(one.needed for one in again.questions)
    assert again.judgments.rows["value"].notna().sum() >= len(LONG)


ENTITIES = [(f"e{i}{s}{r}", name, value) for s, i, r, x in LONG for name, value in
            (("model", s), ("story", i), ("score", 6 - x), ("score", x))]  # fmt: skip
# Names, rows, answers as proposed, how many ratings, their sum, and what is explained.
UNSURE = [
    ("id Vote1 Vote2", [(i, i % 5, 4 - i % 5) for i in range(24)], "rating=Vote1 system=:x", 24, 46,
     "as of people who voted so"),
    ("id chosen_index confidence", [(i, i % 2, i % 7 / 7) for i in range(24)],
     "system 1=:first", 24, 12, "how sure raters are"),
    ("id chosen", [(i, "wxyz"[i % 4]) for i in range(24)], "best=chosen system=:*", 72, 72, ""),
    ("entity attribute value", ENTITIES, "", 48, sum(one[3] for one in LONG), ""),
    # texts that differ are no repeats; what was shown; parts of cells and of names
    ("prompt response_a response_b preferred annotator",
     [("ab"[i % 2], text(), text(), "AB"[i % 2], "x") for i in range(24)],
     "system 1=:response_a", 24, 12, ""),
    ("best worst option1 option2 option3 option4 rater",
     [(o[1], o[3], *o, "r") for o in (R.sample("pqrstu", 4) for _ in range(24))], "", 120, 72,
     "the best is one of these"),
    ("Text_ID Rater Plaus Coher", [(f"{s}_0{i}_G", r, 3, 1 + i % 4) for i, s in lines(*"WP") for r in "xyz"],
     "system=Text_ID={system*}_{item}_G ranks=Plaus", 144, 72 * 3 + 180, ""),
    ("eid model wellA wellI well", [(f"Id{i}", s, 1, 1 + i % 5, 1 + i % 5 / 2) for i, s in lines(*MODELS)],
     "", 48, 90, "the mean of well{rater}"),
    ("article_id model human_1_5 human_0_10", [(f"a{i}", s, 1 + i % 5, i % 5 * 2.5) for i, s in lines(*MODELS)],
     "ranks=human_1_5", 48, 171, ""),
    ("item system user label", [(i, s, "u", 7 + i % 3) for i, s in lines(*MODELS)],
     "words=7=2,8=1,9=0", 24, 24, ""),
    ("rater system score score2 score3",
     [(f"r{i}", s, 1, 2, 3 + i % 2) for i, s in lines(*MODELS)], "", 72, 156, "(3 columns)"),
    ("WorkerId task0 task1 task2 score0 score1 score2", [(i, *R.sample("xyz", 3), 1, 2, 3) for i in range(12)],
     "system=task{part}", 36, 72, ""),
]  # fmt: skip


SAID = {"rating": "Vote1", "words": "7=2,8=1,9=0"}


@pytest.mark.parametrize(("head", "rows", "answers", "n", "total", "why"), UNSURE)
def test_counts_indices_hidden_alternatives_and_entities(
    head, rows, answers, n, total, why
):
    files, said, given = [table(head, rows)], {}, []
    while needed := [q for q in propose(files, said).questions if q.needed]:
        said |= {q.name: q.found or SAID.get(q.name, ":x") for q in needed}
        given += [f"{q.name}={said[q.name]}" for q in needed]
    assert " ".join(given) == answers
    assert why in " ".join(one.reason for one in propose(files, {}).columns)
    values = judged(files, said)["value"]
    assert (len(values), values.sum()) == (n, total)


# Two rows above ratings, a choice, the names, and how many of the rows are no header.
HEADERS = [
    ("Study,,,", "system,item,a,b", "", "system,item,a,b", 0),
    ("system,item,score,", ",,A,B", "", "system,item,score: A,score: B", 0),
    (",,score,", "system,item,A,B", "", "system,item,score: A,score: B", 0),
    ("system,item,x,y", "Name,Number,How good?,And now?", "", "system,item,x,y", 0),
    ("system,item,x,y", "q,2,3,5", "", "system,item,x,y", 1),
    ("system,item,x,y", "s,i,A,B", "2", "s,i,A,B", 0),
]


@pytest.mark.parametrize(("first", "second", "header", "names", "n"), HEADERS)
def test_names_are_read_from_the_rows_that_have_them(first, second, header, names, n):
    above = [first.split(","), second.split(",")]
    rows = [*above, *([s, i, x, 6 - x] for s, i, _, x in LONG)]
    for file in (table(",".join(above[0]).replace(",", ";"), rows[1:]), as_json(rows)):
        ((found,), _) = read_tables([file], {"header": header}, [0])
        assert ",".join(found.words) == names
        assert len(found.table.numbers) == n + len(LONG)


NO_RATINGS = {
    "bbcid": range(10**7, 10**7 + 24 * 999, 999),
    "page_time": [R.random() * 90 for _ in range(24)],
    "row": range(24),
    "z_score": [R.gauss(0, 1) for _ in range(24)],
    "NLL": [-R.random() * 9 for _ in range(24)],
    "sha": [f"{R.getrandbits(128):032x}" for _ in range(24)],
    "comment": [text() * 3 for _ in range(24)],
    "email": [f"a{i}@example.org" for i in range(24)],
}


@pytest.mark.parametrize("name", NO_RATINGS)
def test_other_columns_are_no_ratings(name):
    rows = [[*one, cell] for one, cell in zip(LONG, NO_RATINGS[name], strict=False)]
    found = propose([table(f"system item rater score {name}", rows)], {})
    last = found.columns[-1]
    assert (last.role, bool(last.reason)) == ("ignore", True)
    assert set(found.judgments.rows["criterion"]) == {""}


def test_an_unknown_column_is_refused_with_those_of_the_file():
    with pytest.raises(
        GenieError, match=r"no column 'sytem' for system.*sys_name, segment"
    ):
        propose([table("sys_name segment rater_id score", LONG)], {"system": "sytem"})
    with pytest.raises(GenieError, match=r"name has no \{\}-\{system\}.* such as x_a"):
        propose([table("name score", [("x_a", 1)])], {"cells": "name={}-{system}"})


@pytest.mark.parametrize(
    "kind", ["a damaged file", "an unknown kind of row", "a format"]
)
def test_no_rating_is_lost_without_a_confirmation(kind):
    rows = [[m, i, "ann", i % 5, "judgment"] for i in range(200) for m in MODELS]
    rows += [["gpt", 7, "bob", 1, "oddity"]] * (kind == "an unknown kind of row")
    files = [table("model item rater score role", rows)]
    if kind == "a damaged file":
        files.append(File("more.csv", partial(io.BytesIO, b'model,score\na,"1\nb,2\n')))
    if kind == "a format":
        row = "a01,red,{},TGT,eng,dan,{},1760000000,1760000031\n".format
        text = "".join(row(i, "x" if i % 20 == 1 else 50) for i in range(40))
        files = [File("s.csv", partial(io.BytesIO, text.encode()))]
    assert [q.name for q in propose_any(files).questions if q.needed] == ["lost"]
    found = propose_any(files, choices={"lost": "yes"})
    assert not any(q.needed for q in found.questions)


def test_texts_with_markup_are_no_orders_of_systems():
    assert order_of(["a <b>0</b> c", "d <b>1</b> e"]) is None
    mark, ranks = order_of(["ada > bob = cat", "bob > cat > ada"])
    assert (mark, ranks["ada > bob = cat"]) == (">", {"ada": 1, "bob": 2, "cat": 2})


THREE = ("gpt", "bart", "t5")
ORDERS = [R.sample(THREE, 3) for _ in range(24)]
SLOTS = [[*R.sample("abcd", 4), *R.sample("1234", 2)] for _ in range(24)]
GRADED = [(s, i, r, R.choice("LLMH")) for i, s in lines(*MODELS) for r in "uv"]


# What tables hold, and the answers to their questions; how many ratings of what there are.
@pytest.mark.parametrize(
    ("head", "rows", "said", "n", "criterion"),
    [
        ("d rater order_best_first".replace(" ", ";"),
         [(i, "u", ", ".join(one)) for i, one in enumerate(ORDERS)], {}, 72, ""),
        ("d;rater;ranking", [(i, "u", " > ".join(one)) for i, one in enumerate(ORDERS)], {}, 72, ""),
        ("q;k;o1;o2;o3;o4;most_fluent;least_fluent", [(i, "u", *one) for i, one in enumerate(SLOTS)],
         {}, 120, "preference"),
        ("q;rater;modelA;modelB;scoreA;scoreB",
         [(i, w, *R.sample(MODELS, 2), R.randint(1, 5), R.randint(1, 5)) for i, w in lines("u", "v")],
         {}, 48, "score"),
        ("Gerät;Nr.;rater;Stufe", GRADED, {"system": "Gerät", "words": "L=1,M=2,H=3"}, 48, ""),
        ("system;utt;grader;temperature;quality",
         [(s, i, "u", t, R.randint(1, 5)) for i, s in lines(*MODELS) for t in ("low", "high")],
         {"system": "system,temperature"}, 48, ""),
    ],
)  # fmt: skip
def test_values_tell_orders_places_sides_and_designs(head, rows, said, n, criterion):
    found = propose([table(head, rows)], said)
    assert [one.name for one in found.questions if one.needed] == []
    made = found.judgments.judged
    assert len(made[made["value"].notna()]) == n
    assert not criterion or {*made["criterion"]} == {criterion}


def test_a_condition_within_system_item_and_rater_is_asked_about():
    rows = [(s, i, "u", t, 3) for i, s in lines(*MODELS) for t in ("low", "high")]
    found = propose([table("system;utt;rater;prompting;quality", rows)], {})
    asked = [one for one in found.questions if one.needed]
    assert [(one.name, one.found) for one in asked] == [("system", "system,prompting")]


def test_tables_are_joined_by_keys_and_by_numbers_in_names():
    rated = table(
        "sample;rater;quality 1;quality 2",
        [(i, "u", *SCORES[i][:2]) for i in range(12)],
    )
    key = table("number;model", [(1, "gpt"), (2, "bart")], name="key.csv")
    found = propose([rated, key], {})
    assert {*found.judgments.judged["system"]} == {*MODELS}
    outputs = [
        {"output": f"o{i}", "model": s} for i, (_, s) in enumerate(lines(*MODELS))
    ]
    ratings = [
        {"output": f"o{i}", "rater": r, "score": 3} for i in range(24) for r in "uv"
    ]
    found = propose([as_json({"outputs": outputs, "ratings": ratings})], {})
    assert len(found.judgments.judged) == 48
    assert {*found.judgments.judged["system"]} == {*MODELS}
