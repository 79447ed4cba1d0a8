import itertools
import json
import tomllib
import unicodedata

import pytest
import sacrebleu

from genie.lib.errors import GenieError
from leaderboard.tasks import shipped

FLOOR_CENTS_PER_HOUR = 1500
KINDS = {"question-answering", "abductive-commonsense", "translation", "summarization"}
REAL = {"arc-da", "anlg", "xsum", "wmt21-de-en", "wmt19-de-en"}
TEXT_KEYS = ("title", "summary", "description", "licence", "citation")
VERDICTS = ("right", "partly", "wrong")
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# tasks.definition is what the product reads them with: malformed TOML fails here
CONFIGS = {slug: shipped.definition(slug) for slug in shipped.known_tasks()}
DEMOS = sorted(slug for slug, config in CONFIGS.items() if config.get("demo"))

each_task = pytest.mark.parametrize("slug", sorted(CONFIGS))
each_demo = pytest.mark.parametrize("slug", DEMOS)


def instances(slug):
    text = (shipped.folder(slug) / "test.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def systems(slug):
    text = (shipped.folder(slug) / "systems/systems.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["system"]


def pairs_once(pairs):
    keys = [key for key, _ in pairs]
    assert len(set(keys)) == len(keys), "a key stands twice"
    return dict(pairs)


def predictions(slug, system):
    text = (shipped.folder(slug) / "systems" / system["file"]).read_text(
        encoding="utf-8"
    )
    return json.loads(text, object_pairs_hook=pairs_once)


def verdicts(system, ids):
    exceptions = [(id_, name) for name in VERDICTS for id_ in system.get(name, [])]
    return {**dict.fromkeys(ids, system["usual"]), **pairs_once(exceptions)}


def chrf(slug, system):
    rows, given = instances(slug), predictions(slug, system)
    n_references = max(len(row["references"]) for row in rows)
    references = [
        [row["references"][k] if k < len(row["references"]) else None for row in rows]
        for k in range(n_references)
    ]
    return sacrebleu.corpus_chrf([given[row["id"]] for row in rows], references).score


def all_texts(slug):
    for row in instances(slug):
        yield from (row["id"], *row["fields"].values(), *row["references"])
    for system in systems(slug):
        yield from (system["name"], system["team"], system["description"])
        yield from predictions(slug, system).values()


def test_the_papers_tasks_and_a_demo_of_each_kind_are_there():
    assert set(CONFIGS) >= REAL
    assert {CONFIGS[slug]["kind"] for slug in REAL} == KINDS
    assert {CONFIGS[slug]["kind"] for slug in DEMOS} == KINDS


def test_an_unknown_task_is_refused_with_the_known_ones():
    with pytest.raises(GenieError, match=r"There is no task 'demo-cooking'.*demo-qa"):
        shipped.folder("demo-cooking")


@each_task
def test_a_task_says_what_it_is(slug):
    config = CONFIGS[slug]
    assert config["kind"] in KINDS
    assert all(config[key].strip() for key in TEXT_KEYS)
    # the lengths that the database gives them
    assert len(config["title"]) <= 100
    assert len(config["summary"]) <= 300
    assert len(config["licence"]) <= 200
    assert config["homepage"] == "" or config["homepage"].startswith("https://")
    assert all(config[f"{side}_language"] for side in ("source", "target"))


@each_task
def test_workers_earn_at_least_fifteen_dollars_an_hour(slug):
    human = CONFIGS[slug]["human"]
    earned = human["reward_cents"] * 3600 / human["expected_seconds"]
    assert earned >= FLOOR_CENTS_PER_HOUR
    # rounded up to a cent, no more: a typing slip would pay tenfold
    cent_less = (human["reward_cents"] - 1) * 3600 / human["expected_seconds"]
    assert cent_less < FLOOR_CENTS_PER_HOUR
    assert human["assignment_minutes"] * 60 >= 5 * human["expected_seconds"]


@each_task
def test_the_budget_pays_for_at_least_one_submission(slug):
    human = CONFIGS[slug]["human"]
    tests = human["positive_share"] + human["negative_share"]
    share = 1 + tests + human["repost_share"]
    with_fee = 1.2 * human["sample_size"] * human["reward_cents"] * share
    assert CONFIGS[slug]["budget"]["cents"] >= with_fee


@each_demo
def test_a_demo_has_a_few_dozen_instances_in_the_tasks_fields(slug):
    rows = instances(slug)
    assert 30 <= len(rows) <= 60
    assert all(set(row) == {"id", "fields", "references"} for row in rows)
    assert all(list(row["fields"]) == list(CONFIGS[slug]["fields"]) for row in rows)
    assert all(1 <= len(row["references"]) <= 2 for row in rows)


@each_demo
def test_a_demos_ids_and_inputs_are_unique(slug):
    rows = instances(slug)
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({json.dumps(row["fields"]) for row in rows}) == len(rows)


@each_demo
def test_no_two_instances_share_a_reference(slug):
    # else a reference moved to another instance would still be right there
    owner: dict[str, str] = {}
    for row in instances(slug):
        for reference in row["references"]:
            key = reference.casefold().strip(" .")
            assert owner.setdefault(key, row["id"]) == row["id"], reference


@each_demo
def test_there_are_references_for_every_test_question(slug):
    human = CONFIGS[slug]["human"]
    share = human["positive_share"] + human["negative_share"]
    n_tests = round(share * human["sample_size"])
    # a negative question needs a second instance to take its reference from
    assert len(instances(slug)) >= n_tests + 1


@each_demo
def test_a_demos_texts_are_clean(slug):
    for text in all_texts(slug):
        assert text == text.strip() != ""
        assert unicodedata.is_normalized("NFC", text)
        assert not any(unicodedata.category(char) in {"Cc", "Cs"} for char in text)
        assert not BIDI & set(text)


@each_demo
def test_every_system_answers_exactly_the_demos_instances(slug):
    ids = [row["id"] for row in instances(slug)]
    for system in systems(slug):
        assert sorted(predictions(slug, system)) == sorted(ids), system["name"]


@each_demo
def test_every_prediction_file_belongs_to_a_described_system(slug):
    described = systems(slug)
    found = {path.name for path in (shipped.folder(slug) / "systems").glob("*.json")}
    assert {system["file"] for system in described} == found
    assert all(system["file"] == f"{system['name']}.json" for system in described)
    assert [system["expected_rank"] for system in described] == list(
        range(1, len(described) + 1)
    )
    assert len(described) >= 3


@each_demo
def test_judgements_name_known_ids_once(slug):
    ids = {row["id"] for row in instances(slug)}
    for system in systems(slug):
        assert system["usual"] in VERDICTS
        judged = verdicts(system, ids)
        assert set(judged) == ids
        assert system["usual"] not in {name for name in VERDICTS if name in system}


@each_demo
def test_better_systems_are_judged_better_by_a_reader(slug):
    ids = [row["id"] for row in instances(slug)]
    right = [
        sum(verdict == "right" for verdict in verdicts(system, ids).values()) / len(ids)
        for system in systems(slug)
    ]
    assert right == sorted(right, reverse=True)
    assert right[0] >= 0.95
    assert 0.5 < right[1] < 0.8
    assert right[-1] <= 0.05


@each_demo
def test_better_systems_have_clearly_better_chrf(slug):
    scores = [chrf(slug, system) for system in systems(slug)]
    for better, worse in itertools.pairwise(scores):
        assert better - worse > 5, scores


@each_demo
def test_the_weak_system_never_repeats_a_reference_and_the_others_seldom(slug):
    *others, weak = systems(slug)
    rows = instances(slug)

    def repeated(system):
        given = predictions(slug, system)
        return sum(given[row["id"]] in row["references"] for row in rows)

    assert repeated(weak) == 0
    assert all(repeated(system) <= len(rows) / 8 for system in others)
