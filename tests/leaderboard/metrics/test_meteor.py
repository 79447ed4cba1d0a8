"""METEOR is NLTK's, and finds its WordNet on this machine or says that it is not here."""

import json

import pytest

from genie.lib.errors import GenieError
from leaderboard.metrics.base import Batch, all_metrics
from leaderboard.metrics.meteor import missing_files, wordnet_folder
from tests.leaderboard.metrics import wmt21
from tests.leaderboard.metrics.tiny_models import refuse_network
from tests.leaderboard.metrics.tiny_wordnet import needs_wordnet, write_wordnet
from tests.shared import SHARED, needs_shared


@pytest.fixture
def wordnet(tmp_path, monkeypatch):
    folder = write_wordnet(tmp_path / "wordnet")
    monkeypatch.setenv("GENIE_WORDNET", str(folder))
    return folder


@pytest.fixture
def no_network(monkeypatch):
    refuse_network(monkeypatch)


def meteor(prediction: str, *references: str, **parameters) -> float:
    metric = all_metrics()["meteor"](**parameters)
    return metric.compute(Batch([prediction], [list(references)])).overall


def test_a_copy_gets_all_but_the_penalty_for_one_chunk(wordnet, no_network):
    assert meteor("the ship sails", "The ship sails") == pytest.approx(100 - 50 / 27)


def test_synonyms_and_stems_match(wordnet, no_network):
    copy = meteor("the ship sails", "the ship sails")
    assert meteor("the boat sails", "the ship sails") == pytest.approx(copy)
    assert meteor("the ship sailed", "the ship sails") == pytest.approx(copy)
    assert meteor("the tree sails", "the ship sails") < copy


def test_nothing_in_common_is_nothing(wordnet):
    assert meteor("green trees", "the ship sails") == 0
    assert meteor("", "the ship sails") == 0
    assert meteor("green trees", "") == 0


def test_by_hand(wordnet):
    # 3 of 4 words and 3 of 5, in two chunks: F = PR / (.9 P + .1 R)
    precision, recall = 3 / 4, 3 / 5
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    expected = 100 * mean * (1 - 0.5 * (2 / 3) ** 3)
    assert meteor("a b x c", "c q a b z") == pytest.approx(expected)
    half = 100 * (precision * recall / (0.5 * precision + 0.5 * recall))
    assert meteor("a b x c", "c q a b z", alpha=0.5, gamma=0) == pytest.approx(half)


def test_the_best_reference_counts(wordnet):
    assert meteor("the ship", "a tree", "the boat") == meteor("the ship", "the boat")


def test_the_signature_names_nltk_and_the_wordnet(wordnet):
    output = all_metrics()["meteor"]().compute(Batch(["a"], [["a"]]))
    assert "wordnet:0.5|" in output.signature
    assert output.signature.endswith(all_metrics()["meteor"].version)
    assert "nltk." in output.signature


def test_it_is_nltks_own_number(wordnet):
    from nltk.stem.porter import PorterStemmer
    from nltk.translate.meteor_score import meteor_score

    from leaderboard.metrics.meteor import synonyms

    texts = ["the boats were sailing away", "away the sea sails boats", "Ocean ships"]
    for prediction in texts:
        theirs = meteor_score(
            [text.split() for text in texts[1:]],
            prediction.split(),
            stemmer=PorterStemmer(),
            wordnet=synonyms(wordnet_folder()),
        )
        assert meteor(prediction, *texts[1:]) == 100 * theirs


def test_without_a_wordnet_it_says_where_it_looked(tmp_path, monkeypatch, no_network):
    monkeypatch.setenv("GENIE_WORDNET", str(tmp_path))
    reason = all_metrics()["meteor"]().available()
    assert str(tmp_path) in reason
    assert "wordnet-base" in reason
    with pytest.raises(GenieError, match="is not computed here") as caught:
        meteor("a", "a")
    assert caught.value.code == "not-computed-here"


def test_an_incomplete_wordnet_is_none(wordnet):
    (wordnet / "data.verb").unlink()
    assert missing_files(wordnet) == ["data.verb"]
    assert all_metrics()["meteor"]().available()


def test_unless_told_it_looks_where_make_and_debian_put_it(tmp_path, monkeypatch):
    monkeypatch.delenv("GENIE_WORDNET", raising=False)
    made, debian = tmp_path / "made", tmp_path / "debian"
    monkeypatch.setattr("leaderboard.metrics.meteor.DEFAULT_FOLDERS", (made, debian))
    assert wordnet_folder() == made
    write_wordnet(debian)
    assert wordnet_folder() == debian
    write_wordnet(made)
    assert wordnet_folder() == made


@pytest.mark.slow
@needs_shared
@needs_wordnet
def test_real_submissions_have_their_values_of_this_variant():
    values = json.loads((SHARED / "data" / "truth.json").read_text(encoding="utf-8"))
    rows = next(value for value in values.values() if isinstance(value, list))
    variant = "wmt21.meteor_stems_A."
    truth = [row for row in rows if row["id"].startswith(variant)]
    assert len(truth) == 10
    for row in truth[::9]:
        system = row["id"].removeprefix(variant)
        name = "ref.B" if system == "HUMAN" else f"hyp.{system}"
        output = all_metrics()["meteor"]().compute(wmt21.batch(name))
        expected = pytest.approx(row["expected"], abs=row["tol"])
        assert output.overall == expected, system
