"""Trained metrics of translations, each with a model on this machine."""

from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from genie.lib import env
from genie.lib.errors import GenieError
from leaderboard.metrics.base import versions
from leaderboard.metrics.engines.comet_model import CometModel, encoder_folder, files_of
from leaderboard.metrics.engines.neural_models import cached_folder
from leaderboard.metrics.engines.pair_models import (
    PairMetric,
    Pairs,
    PairScorer,
    by_length,
    place_on_device,
)

_AT_ONCE = 16
# the tokenizer's <extra_id_10>: MetricX's logit for it is the score
_ANSWER = 250_089


class Comet(PairMetric):
    """COMET: a trained model's prediction of the human rating of a translation.

    Mean over instances on the model's own scale (about 0 to 1 for wmt22-comet-da, without
    a strict limit); the best reference counts. Computed by transformers from a release's
    ``hparams.yaml`` and ``checkpoints/model.ckpt``, regression models only.

    Parameters
    ----------
    model : str, optional
        Folder or hub name of the release; GENIE_COMET_MODEL if empty.
    revision : str, optional
        Of a hub name; GENIE_COMET_REVISION if empty.
    encoder : str, optional
        Folder or hub name of the encoder's configuration and vocabulary;
        GENIE_COMET_ENCODER if empty, and the name in the release if that is empty, too.

    References
    ----------
    Rei, Stewart, Farinha, Lavie (2020), "COMET: A Neural Framework for MT Evaluation",
    EMNLP, section 2.3. Rei et al. (2022), "COMET-22", WMT.
    """

    slug = "comet"
    label = "COMET"
    version = versions(1, "transformers", "torch")
    higher_is_better = True
    range = (float("-inf"), None)
    needs_sources = True
    paper = "Rei et al. 2020"
    variable = "COMET"
    window = 510

    def __init__(
        self, *, model: str = "", revision: str = "", encoder: str = ""
    ) -> None:
        super().__init__(model=model, revision=revision)
        self.encoder = encoder or env.text("GENIE_COMET_ENCODER")

    def _folder(self) -> Path:
        return cached_folder(self.model, self.revision)

    def _fingerprint_folders(self, folder: Path) -> list[Path]:
        return [*files_of(folder), *_vocabulary(encoder_folder(self.encoder, folder))]

    def _scorer(self, folder: Path) -> PairScorer:
        return _comet(folder, encoder_folder(self.encoder, folder))


class MetricX(PairMetric):
    """MetricX-24: the errors in a translation that a trained model expects.

    Mean over instances of MQM-like penalties from 0 (none) to 25; lower is better, and
    the best reference counts. Computed by transformers from a hybrid model of
    MetricX-24, with the vocabulary of mT5 in the same folder.

    Parameters
    ----------
    model : str, optional
        Folder or hub name (see ``neural_models``); GENIE_METRICX_MODEL if empty.
    revision : str, optional
        Of a hub name; GENIE_METRICX_REVISION if empty.

    References
    ----------
    Juraska, Deutsch, Finkelstein, Freitag (2024), "MetricX-24: The Google Submission to
    the WMT 2024 Metrics Shared Task", WMT.
    """

    slug = "metricx"
    label = "MetricX-24"
    version = versions(1, "transformers", "torch")
    higher_is_better = False
    range = (0.0, 25.0)
    needs_sources = True
    paper = "Juraska et al. 2024"
    variable = "METRICX"
    window = 1_536

    def _fingerprint_folders(self, folder: Path) -> list[Path]:
        if not any((folder / name).is_file() for name in _VOCABULARIES):
            raise GenieError(
                f"{folder} has no vocabulary ({' or '.join(_VOCABULARIES)}): put that "
                "of mT5 there.",
                code="no-model",
            )
        return [folder]

    def _scorer(self, folder: Path) -> PairScorer:
        return _metricx(folder)


_VOCABULARIES = ("tokenizer.json", "spiece.model")


def _vocabulary(folder: Path) -> list[Path]:
    """Return the relevant files of an encoder's folder: the release has the weights."""
    kinds = {".json", ".model", ".txt"}
    return sorted(path for path in folder.iterdir() if path.suffix in kinds)


class _MetricXScorer:
    def __init__(self, folder: Path) -> None:
        self.torch = import_module("torch")
        transformers = import_module("transformers")
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.MT5ForConditionalGeneration.from_pretrained(folder)
        # T5's activations overflow in float16
        self.model, self.device, self.precision = place_on_device(model, "bfloat16")

    def score(self, pairs: Pairs) -> tuple[list[float], int]:
        texts = [
            f"source: {source} candidate: {prediction} reference: {reference}"
            for source, reference, prediction in zip(*pairs, strict=True)
        ]
        # the model was trained without the end mark, but a place is reserved for it
        tokens = self.tokenizer(texts, add_special_tokens=False, verbose=False)
        places = MetricX.window - 1
        rows_of = [ids[:places] for ids in tokens["input_ids"]]
        values = [0.0] * len(texts)
        for rows in by_length([len(ids) for ids in rows_of], _AT_ONCE):
            inputs = self.tokenizer.pad(
                {"input_ids": [rows_of[row] for row in rows]}, return_tensors="pt"
            ).to(self.device)
            for row, value in zip(rows, self._answers(inputs), strict=True):
                values[row] = value
        return values, sum(len(ids) > places for ids in tokens["input_ids"])

    def _answers(self, inputs: Any) -> list[float]:
        start = self.torch.zeros((len(inputs["input_ids"]), 1), dtype=self.torch.long)
        with self.torch.inference_mode():
            logits = self.model(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                decoder_input_ids=start.to(self.device),
                use_cache=False,
            ).logits
        found: list[float] = logits[:, 0, _ANSWER].float().clamp(0, 25).tolist()
        return found


# Only one model of a kind stays in memory, which may not have room for two.
@lru_cache(maxsize=1)
def _comet(folder: Path, encoder: Path) -> CometModel:
    return CometModel(folder, encoder)


@lru_cache(maxsize=1)
def _metricx(folder: Path) -> _MetricXScorer:
    return _MetricXScorer(folder)
