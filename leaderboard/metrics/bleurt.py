"""BLEURT, from a model on this machine."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from genie.lib import env
from genie.lib.errors import GenieError
from leaderboard.metrics.base import (
    Batch,
    Metric,
    MetricOutput,
    n_references,
    versions,
)
from leaderboard.metrics.engines.neural_models import (
    fingerprint,
    lacking_library,
    model_folder,
)

_CHUNK = 32
_WINDOW = 512


class Bleurt(Metric):
    """BLEURT: a trained model's prediction of the human rating.

    Mean over instances on the model's own scale, where most texts lie between 0 and 1
    but nothing keeps them there; the best reference counts. Computed by the PyTorch
    port (bleurt-pytorch) of a model named by the operator; the signature holds a
    fingerprint of its files. Texts longer than its window are cut, and the details say
    how many.

    Parameters
    ----------
    model : str, optional
        Folder or hub name (see ``neural_models``); GENIE_BLEURT_MODEL if empty.
    revision : str, optional
        Of a hub name; GENIE_BLEURT_REVISION if empty.

    References
    ----------
    Sellam, Das, Parikh (2020), "BLEURT: Learning Robust Metrics for Text Generation",
    ACL, section 3. Pu, Chung, Parikh, Gehrmann, Sellam (2021), "Learning Compact
    Metrics for MT", EMNLP (BLEURT-20).

    Examples
    --------
    >>> Bleurt(model="/no/such/folder").available() is None
    False
    """

    slug = "bleurt"
    label = "BLEURT"
    version = versions(1, "bleurt-pytorch", "transformers", "torch")
    higher_is_better = True
    range = (float("-inf"), None)
    cost = "gpu"
    piece = 8 * _CHUNK
    summed = ("n_cut",)
    paper = "Sellam et al. 2020"

    def __init__(self, *, model: str = "", revision: str = "") -> None:
        self.model = model or env.text("GENIE_BLEURT_MODEL")
        self.revision = revision or env.text("GENIE_BLEURT_REVISION")

    def available(self) -> str | None:
        """Say which library or model is lacking, or None."""
        if lacking := lacking_library("bleurt_pytorch"):
            return lacking
        try:
            model_folder(self.model, self.revision)
        except GenieError as error:
            return f"{error.message} Set GENIE_BLEURT_MODEL."
        return None

    def _parameters(self) -> dict[str, object]:
        return {"model": fingerprint(model_folder(self.model, self.revision))}

    def _measure(self, batch: Batch) -> MetricOutput:
        folder = model_folder(self.model, self.revision)
        scorer = _scorer(str(folder))
        # every reference makes a pair of its own; owners lead back to the instance
        owners = np.repeat(
            np.arange(len(batch)), [len(texts) for texts in batch.references]
        )
        references = [text for texts in batch.references for text in texts]
        predictions = [batch.predictions[owner] for owner in owners.tolist()]
        scores, n_cut = scorer.score(references, predictions)
        best = np.full(len(batch), -np.inf)
        np.maximum.at(best, owners, scores)
        return MetricOutput(
            overall=float(best.mean()),
            per_instance=best,
            signature=(
                f"nrefs:{n_references(batch)}|multi:max|model:{fingerprint(folder)}|"
                f"window:{_WINDOW}|agg:mean|version:{self.version}"
            ),
            details={
                "model": self.model if not Path(self.model).is_dir() else folder.name,
                "n_cut": n_cut,
            },
        )


class _Scorer:
    def __init__(self, folder: str) -> None:
        library = import_module("bleurt_pytorch")
        self.torch = import_module("torch")
        self.tokenizer = library.BleurtTokenizer.from_pretrained(folder)
        model = library.BleurtForSequenceClassification.from_pretrained(folder)
        self.device = "cuda" if self.torch.cuda.is_available() else "cpu"
        self.model = model.to(self.device).eval()
        self.window = min(_WINDOW, int(model.config.max_position_embeddings))

    def score(
        self, references: list[str], predictions: list[str]
    ) -> tuple[list[float], int]:
        """Give the model's value for each pair, and how many pairs were cut."""
        values: list[float] = []
        n_cut = 0
        for start in range(0, len(references), _CHUNK):
            pairs = (
                references[start : start + _CHUNK],
                predictions[start : start + _CHUNK],
            )
            encoded = self.tokenizer(*pairs)["input_ids"]
            n_cut += sum(len(ids) > self.window for ids in encoded)
            inputs: Any = self.tokenizer(
                *pairs,
                padding="longest",
                truncation="longest_first",
                max_length=self.window,
                return_tensors="pt",
            ).to(self.device)
            with self.torch.no_grad():
                values += self.model(**inputs).logits.flatten().tolist()
        return values, n_cut


@lru_cache(maxsize=1)
def _scorer(folder: str) -> _Scorer:
    return _Scorer(folder)
