"""COMET and MetricX, run for real on tiny models that are built here."""

import numpy as np
import pytest

from genie.lib.errors import GenieError
from leaderboard.metrics.base import Batch, all_metrics
from tests.leaderboard.metrics.tiny_models import (
    OTHER,
    TEXTS,
    build_comet,
    build_metricx,
    encoded_by,
    needs_torch,
    refuse_network,
)

# the libraries warn about their own insides
pytestmark = [needs_torch, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    refuse_network(monkeypatch)


@pytest.fixture(scope="module")
def comet(tmp_path_factory):
    return build_comet(tmp_path_factory.mktemp("tiny-comet"))


@pytest.fixture(scope="module")
def metricx(tmp_path_factory):
    return build_metricx(tmp_path_factory.mktemp("tiny-metricx"))


def plain_comet(folder, source, prediction, reference, shares):
    import torch
    from transformers import AutoTokenizer, XLMRobertaConfig, XLMRobertaModel

    state = torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)
    state = state["state_dict"]
    config = XLMRobertaConfig.from_pretrained(folder / "encoder")
    encoder = XLMRobertaModel(config, add_pooling_layer=False).eval()
    encoder.load_state_dict(
        {k[14:]: value for k, value in state.items() if k.startswith("encoder.")}
    )
    tokenizer = AutoTokenizer.from_pretrained(folder / "encoder")

    def vector(text):
        ids = tokenizer(text, return_tensors="pt", truncation=True, max_length=20)
        states = encoder(**ids, output_hidden_states=True).hidden_states
        mixed = sum(s * state for s, state in zip(shares, states, strict=True))
        return 1.3 * mixed[0].mean(0)

    with torch.no_grad():
        s, h, r = vector(source), vector(prediction), vector(reference)
        x = torch.cat([h, r, h * r, (h - r).abs(), h * s, (h - s).abs()])
        for number in (0, 3, 6):
            weight, bias = (
                state[f"estimator.ff.{number}.{k}"] for k in ("weight", "bias")
            )
            x = weight @ x + bias
            x = x.tanh() if number < 6 else x
    return x.item()


@pytest.mark.parametrize("transformation", ["sparsemax", "softmax"])
def test_comet_is_what_its_paper_writes_down(tmp_path, transformation):
    import torch

    from leaderboard.metrics.engines.comet_model import sparsemax

    folder = build_comet(tmp_path, transformation)
    metric = all_metrics()["comet"](model=str(folder))
    predictions = [OTHER[0], "", "ship " * 40]
    found = metric.compute(Batch(predictions, [[text] for text in TEXTS], TEXTS[::-1]))
    state = torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)
    raw = [
        state["state_dict"][f"layerwise_attention.scalar_parameters.{k}"].item()
        for k in range(4)
    ]
    if transformation == "sparsemax":
        shares = sparsemax(np.array(raw)).tolist()
    else:
        shares = torch.tensor(raw).softmax(0).tolist()
    expected = [
        plain_comet(folder, *texts, shares)
        for texts in zip(TEXTS[::-1], predictions, TEXTS, strict=True)
    ]
    assert found.per_instance == pytest.approx(expected, abs=1e-5)
    assert found.details["n_cut"] == 1


def test_comet_encodes_references_and_sources_once(comet, monkeypatch):
    from leaderboard.metrics import translation

    metric = all_metrics()["comet"](model=str(comet))
    pairs = Batch(OTHER, [TEXTS] * 3, TEXTS)
    first = metric.compute(pairs)
    rows = encoded_by(translation._comet(comet, comet / "encoder").model, monkeypatch)
    again = metric.compute(pairs)
    assert sum(n for n, _ in rows) == len(OTHER)
    assert again.per_instance == pytest.approx(first.per_instance, abs=1e-5)
    one = [metric.compute(Batch(OTHER, [[t]] * 3, TEXTS)).per_instance for t in TEXTS]
    assert again.per_instance == pytest.approx(np.max(one, axis=0), abs=1e-5)


def test_metricx_is_the_first_answer_of_its_decoder(metricx):
    import torch
    from transformers import AutoTokenizer, MT5ForConditionalGeneration

    tokenizer = AutoTokenizer.from_pretrained(metricx)
    model = MT5ForConditionalGeneration.from_pretrained(metricx).eval()
    expected = []
    predictions = [OTHER[0], "", "ship " * 2_000]
    for source, text, reference in zip(TEXTS[::-1], predictions, TEXTS, strict=True):
        line = f"source: {source} candidate: {text} reference: {reference}"
        ids = tokenizer(line, truncation=True, max_length=1_536)["input_ids"][:-1]
        with torch.no_grad():
            logits = model(
                input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([[0]])
            ).logits
        expected.append(min(max(logits[0, 0, 250_089].item(), 0), 25))
    found = all_metrics()["metricx"](model=str(metricx)).compute(
        Batch(predictions, [[text] for text in TEXTS], TEXTS[::-1])
    )
    assert found.per_instance == pytest.approx(expected, abs=1e-4)
    assert max(expected) > 0
    assert found.details["n_cut"] == 1
    assert "multi:min|" in found.signature


def test_models_of_translations_say_what_they_lack(comet, metricx, tmp_path):
    def reason(slug, folder, **more):
        return all_metrics()[slug](model=str(folder), **more).available()

    assert reason("comet", comet) is None
    assert reason("metricx", metricx) is None
    assert "no hparams.yaml" in reason("comet", tmp_path)
    assert "no config.json" in reason("comet", comet, encoder=str(tmp_path))
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "model.ckpt").write_bytes(b"no weights")
    (tmp_path / "hparams.yaml").write_text("class_identifier: unified_metric\n")
    assert "not a COMET regression model" in reason("comet", tmp_path)
    settings = (comet / "hparams.yaml").read_text(encoding="utf-8")
    (tmp_path / "hparams.yaml").write_text(settings, encoding="utf-8")
    with pytest.raises(GenieError, match="cannot be read as weights"):
        all_metrics()["comet"](model=str(tmp_path)).compute(
            Batch(OTHER, [[text] for text in TEXTS], TEXTS)
        )
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    assert "no vocabulary" in reason("metricx", tmp_path)
