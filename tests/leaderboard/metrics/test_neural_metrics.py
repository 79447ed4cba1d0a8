"""BERTScore and BLEURT, run for real on tiny models that are built here.

The weights are random: what is tested is that texts, references, layers, limits and
models reach the library as they should, not that the numbers mean anything.
"""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from genie.lib.errors import GenieError
from leaderboard.metrics.base import Batch, all_metrics
from leaderboard.metrics.engines import pair_models
from leaderboard.metrics.engines.neural_models import fingerprint, model_folder
from tests.leaderboard.metrics.tiny_models import (
    OTHER,
    TEXTS,
    build_bert,
    build_bleurt,
    encoded_by,
    refuse_network,
)

needs_bert = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "bert_score")),
    reason="the extra [neural] is not installed",
)
needs_bleurt = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "bleurt_pytorch")),
    reason="bleurt-pytorch is not installed",
)
# the libraries warn about their own insides
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    refuse_network(monkeypatch)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return build_bert(tmp_path_factory.mktemp("models") / "tiny-bert")


@pytest.fixture(scope="module")
def bleurt(tmp_path_factory):
    return build_bleurt(tmp_path_factory.mktemp("models") / "tiny-bleurt")


def bertscore(folder, layers=2, **more):
    return all_metrics()["bertscore"](model=str(folder), layers=layers, **more)


def batch(predictions, references=TEXTS) -> Batch:
    return Batch(predictions, [[text] for text in references])


@needs_bert
def test_bertscore_of_a_copy_is_full(bert):
    same = bertscore(bert).compute(batch(TEXTS))
    assert same.per_instance == pytest.approx(np.full(3, 100), abs=1e-3)
    other = bertscore(bert).compute(batch(OTHER))
    assert other.per_instance.max() < 99.9
    assert other.overall == pytest.approx(other.per_instance.mean())


@needs_bert
def test_bertscore_is_the_librarys(bert):
    from bert_score import score

    ours = bertscore(bert).compute(batch(OTHER))
    precision, recall, f1 = score(OTHER, TEXTS, model_type=str(bert), num_layers=2)
    assert ours.per_instance == pytest.approx(100 * f1.double().numpy(), abs=1e-4)
    assert ours.details["precision"] == pytest.approx(
        100 * precision.mean().item(), abs=1e-4
    )
    assert ours.details["recall"] == pytest.approx(100 * recall.mean().item(), abs=1e-4)


@needs_bert
def test_the_best_reference_counts_and_they_may_vary_in_number(bert):
    metric = bertscore(bert)
    one = [metric.compute(batch(OTHER[:1], [text])).overall for text in TEXTS]
    both = metric.compute(Batch(OTHER[:1], [TEXTS])).overall
    assert both == pytest.approx(max(one), abs=1e-4)
    uneven = metric.compute(Batch(OTHER[:2], [TEXTS, TEXTS[:1]]))
    assert uneven.per_instance[0] == pytest.approx(both, abs=1e-4)
    assert "nrefs:var" in uneven.signature


@needs_bert
def test_empty_predictions_get_nothing_and_long_ones_are_counted(bert):
    output = bertscore(bert).compute(batch(["", "north " * 60, TEXTS[2]]))
    assert output.per_instance[0] == 0
    assert np.isfinite(output.per_instance).all()
    assert output.details["n_cut"] == 1


@needs_bert
def test_many_texts_are_measured_in_parts_with_the_same_numbers(bert):
    many = bertscore(bert).compute(batch(OTHER * 200, TEXTS * 200))
    few = bertscore(bert).compute(batch(OTHER))
    assert many.per_instance == pytest.approx(np.tile(few.per_instance, 200), abs=1e-3)


@needs_bert
def test_the_signature_names_layer_and_model_by_its_contents(bert, tmp_path):
    first = bertscore(bert).compute(batch(OTHER)).signature
    assert f"model:{fingerprint(bert)}|layer:2|" in first
    assert str(bert) not in first
    assert len(first) <= 300
    other_layer = bertscore(bert, layers=1).compute(batch(OTHER))
    assert "layer:1|" in other_layer.signature
    other_model = build_bert(tmp_path / "tiny-bert", seed=7)
    assert fingerprint(other_model) != fingerprint(bert)
    again = build_bert(tmp_path / "same" / "tiny-bert", seed=0)
    assert fingerprint(again) == fingerprint(bert)


@needs_bert
def test_rescaling_uses_the_file_that_is_named(bert, tmp_path):
    baseline = tmp_path / "baseline.tsv"
    rows = ["LAYER,P,R,F", *(f"{layer},0.2,0.3,0.5" for layer in range(4))]
    baseline.write_text("\n".join(rows) + "\n", encoding="utf-8")
    raw = bertscore(bert).compute(batch(OTHER))
    rescaled = bertscore(bert, baseline=str(baseline)).compute(batch(OTHER))
    assert rescaled.per_instance == pytest.approx(
        100 * (raw.per_instance / 100 - 0.5) / 0.5, abs=1e-3
    )
    assert "rescaled:yes" in rescaled.signature
    absent = bertscore(bert, baseline=str(tmp_path / "no.tsv")).available()
    assert "no.tsv" in absent


@needs_bert
def test_bertscore_says_what_it_lacks(bert, tmp_path, monkeypatch):
    monkeypatch.delenv("GENIE_BERTSCORE_MODEL", raising=False)
    assert "No model is set" in all_metrics()["bertscore"]().available()
    assert "GENIE_BERTSCORE_LAYERS" in bertscore(bert, layers=0).available()
    monkeypatch.setenv("GENIE_BERTSCORE_MODEL", str(bert))
    monkeypatch.setenv("GENIE_BERTSCORE_LAYERS", "3")
    assert all_metrics()["bertscore"]().available() is None
    t5 = tmp_path / "not-t5"
    t5.symlink_to(bert)
    assert "for a T5 model" in bertscore(t5).available()


@needs_bert
def test_a_hub_name_is_looked_up_in_the_cache_only(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    reason = bertscore("nobody/no-such-model", revision="abc").available()
    assert "nobody/no-such-model at revision abc" in reason
    assert "never downloaded" in reason


@needs_bleurt
def test_bleurt_is_the_models_own_number(bleurt):
    import torch
    from bleurt_pytorch import BleurtForSequenceClassification
    from bleurt_pytorch.bleurt.tokenization_bleurt import BleurtTokenizer

    tokenizer = BleurtTokenizer.from_pretrained(bleurt)
    model = BleurtForSequenceClassification.from_pretrained(bleurt).eval()
    with torch.no_grad():
        theirs = [
            model(**tokenizer(text, other, return_tensors="pt")).logits.item()
            for text, other in zip(TEXTS, OTHER, strict=True)
        ]
    metric = all_metrics()["bleurt"](model=str(bleurt))
    ours = metric.compute(batch(OTHER))
    assert ours.per_instance == pytest.approx(theirs, abs=1e-5)
    assert ours.overall == pytest.approx(np.mean(theirs), abs=1e-5)
    best = metric.compute(Batch(OTHER[:1], [TEXTS]))
    ones = [metric.compute(batch(OTHER[:1], [text])).overall for text in TEXTS]
    assert best.overall == pytest.approx(max(ones), abs=1e-5)
    assert f"model:{fingerprint(bleurt)}" in ours.signature


@needs_bleurt
def test_bleurt_cuts_what_does_not_fit_and_says_so(bleurt):
    metric = all_metrics()["bleurt"](model=str(bleurt))
    output = metric.compute(batch(["", "north " * 60, TEXTS[2]] * 20, TEXTS * 20))
    assert np.isfinite(output.per_instance).all()
    assert output.details["n_cut"] == 20
    assert output.per_instance[:3] == pytest.approx(output.per_instance[-3:], abs=1e-5)


@needs_bert
def test_bertscore_encodes_references_once_and_texts_of_one_length_together(
    bert, monkeypatch
):
    from leaderboard.metrics import bertscore as module

    metric = bertscore(bert)
    first = metric.compute(batch(OTHER))
    scorer = module._scorer(str(bert), 2, "")
    assert scorer.precision == ""  # half precision is for GPUs
    monkeypatch.setattr(module, "_AT_ONCE", 1)
    rows = encoded_by(scorer.model, monkeypatch)
    again = metric.compute(batch(OTHER))
    assert sorted(rows, reverse=True) == rows
    assert len(rows) == len(OTHER)
    assert again.per_instance == pytest.approx(first.per_instance, abs=1e-4)


@needs_bleurt
def test_bleurt_tokenises_a_text_once_in_however_many_pairs(bleurt, monkeypatch):
    from leaderboard.metrics import bleurt as module

    metric = all_metrics()["bleurt"](model=str(bleurt))
    scorer = module._load(str(bleurt))
    seen = []
    plain = scorer.tokenizer.__class__.__call__

    def noted(self, texts, *args, **kwargs):
        seen.extend(texts)
        return plain(self, texts, *args, **kwargs)

    monkeypatch.setattr(scorer.tokenizer.__class__, "__call__", noted)
    metric.compute(Batch([TEXTS[0], TEXTS[0]], [TEXTS, TEXTS]))
    assert sorted(seen) == sorted(TEXTS)


@pytest.mark.parametrize("slug", ["bertscore", "bleurt", "comet", "metricx"])
def test_without_a_model_nothing_is_computed_and_staff_are_told_why(slug, tmp_path):
    metric = all_metrics()[slug](model=str(tmp_path / "nowhere"))
    reason = metric.available()
    assert "not installed" in reason or "There is no folder" in reason
    with pytest.raises(GenieError, match="is not computed here") as caught:
        metric.compute(Batch(TEXTS, [[text] for text in TEXTS], TEXTS))
    assert caught.value.code == "not-computed-here"


def test_a_folder_must_hold_a_model(tmp_path):
    with pytest.raises(GenieError, match=r"no config\.json"):
        model_folder(str(tmp_path))
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(GenieError, match="no weights"):
        model_folder(str(tmp_path))
    (tmp_path / "model.safetensors.index.json").write_text("{}", encoding="utf-8")
    assert model_folder(str(tmp_path)) == tmp_path


def test_a_fingerprint_changes_with_the_contents_only(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        folder.mkdir()
        (folder / "config.json").write_text("{}", encoding="utf-8")
        (folder / "notes.md").write_text(folder.name, encoding="utf-8")
    assert fingerprint(first) == fingerprint(second)
    (second / "model.bin").write_bytes(b"1")
    assert fingerprint(first) != fingerprint(second)


class Recorded:
    """Stands for a model, and for a vector of 400 kB."""

    nbytes = 400_000

    def __init__(self):
        self.moves = []

    def to(self, where):
        self.moves.append(where)
        return self

    def eval(self):
        return self

    def clone(self):
        return self


@pytest.mark.parametrize("half", ["float16", "bfloat16", ""])
def test_models_are_in_half_precision_on_a_gpu_unless_told_otherwise(half, monkeypatch):
    gpu = SimpleNamespace(is_available=lambda: True)
    torch = SimpleNamespace(cuda=gpu, float16="float16", bfloat16="bfloat16")
    monkeypatch.setattr(pair_models, "import_module", lambda name: torch)
    if not half:
        monkeypatch.setenv("GENIE_NEURAL_HALF", "0")
    model = Recorded()
    found = pair_models.place_on_device(model, half or "float16")
    assert found == (model, "cuda", half)
    assert model.moves == [*([half] if half else []), "cuda"]


def test_vectors_are_kept_up_to_a_limit_and_the_latest_used_longest():
    kept = pair_models.Kept(1)
    for text in ("a", "b"):
        kept.put(text, Recorded())
    assert kept.get("a")
    kept.put("c", Recorded())
    assert [kept.get(text) is not None for text in "abc"] == [True, False, True]


def in_pieces(metric, predictions):
    whole = metric.compute(batch(predictions))
    parts = [slice(0, 1), slice(1, len(predictions))]
    pieces = [
        metric.compute(
            Batch(
                predictions[part], [[text] for text in TEXTS[part]], references_each="1"
            )
        )
        for part in parts
    ]
    return whole, metric.combine(pieces)


@needs_bert
def test_bertscores_pieces_put_together_are_the_whole(bert):
    metric = bertscore(bert)
    whole, found = in_pieces(metric, TEXTS[::-1])
    assert found.per_instance == pytest.approx(whole.per_instance, abs=1e-4)
    assert found.overall == pytest.approx(whole.overall, abs=1e-4)
    assert found.signature == whole.signature
    assert found.details == pytest.approx(whole.details, abs=1e-4)
    assert bert.name not in metric.settings()


@needs_bleurt
def test_bleurts_pieces_put_together_are_the_whole(bleurt):
    metric = all_metrics()["bleurt"](model=str(bleurt))
    whole, found = in_pieces(metric, TEXTS[::-1])
    assert found.per_instance == pytest.approx(whole.per_instance, abs=1e-4)
    assert (found.signature, found.details) == (whole.signature, whole.details)
