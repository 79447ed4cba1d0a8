"""BERTScore as bert-score computes it, from a model on this machine."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    fingerprint_of,
    lacking_library,
    model_folder,
)

# bert-score keeps the vectors of all texts it is given: so many at a time
_CHUNK = 256


class BertScore(Metric):
    """BERTScore: F1 of greedily matched contextual token embeddings.

    Mean over instances, times 100; the best reference counts. Model and layer decide
    the numbers: they are in the signature, the model by a fingerprint of its files.
    Texts longer than the model's window are cut, and the details say how many. An empty
    prediction gets 0. Rescaling stretches the narrow range of raw values; compare
    rescaled with rescaled only.

    Parameters
    ----------
    model : str, optional
        Folder or hub name (see ``neural_models``); GENIE_BERTSCORE_MODEL if empty.
    revision : str, optional
        Of a hub name; GENIE_BERTSCORE_REVISION if empty.
    layers : int, optional
        Use the output of this layer, counted from 1; GENIE_BERTSCORE_LAYERS if 0
        (17 is usual for roberta-large).
    baseline : str, optional
        File of bert-score's baselines for rescaling; GENIE_BERTSCORE_BASELINE if
        empty, and no rescaling if that is empty too.

    References
    ----------
    Zhang, Kishore, Wu, Weinberger, Artzi (2020), "BERTScore: Evaluating Text Generation
    with BERT", ICLR, section 3, without idf weights.

    Examples
    --------
    >>> BertScore(model="/no/such/folder", layers=2).available() is None
    False
    """

    slug = "bertscore"
    label = "BERTScore"
    version = versions(1, "bert-score", "transformers", "torch")
    higher_is_better = True
    range = (-100.0, 100.0)
    cost = "gpu"
    piece = 2 * _CHUNK
    summed = ("n_cut",)
    averaged = ("precision", "recall")
    paper = "Zhang et al. 2020"

    def __init__(
        self,
        *,
        model: str = "",
        revision: str = "",
        layers: int = 0,
        baseline: str = "",
    ) -> None:
        self.model = model or env.text("GENIE_BERTSCORE_MODEL")
        self.revision = revision or env.text("GENIE_BERTSCORE_REVISION")
        self.layers = layers or env.integer("GENIE_BERTSCORE_LAYERS", 0)
        self.baseline = baseline or env.text("GENIE_BERTSCORE_BASELINE")

    def available(self) -> str | None:
        """Say which library, model or setting is lacking, or None."""
        if lacking := lacking_library("bert_score"):
            return lacking
        try:
            folder = model_folder(self.model, self.revision)
        except GenieError as error:
            return f"{error.message} Set GENIE_BERTSCORE_MODEL."
        if "t5" in str(folder):
            return (
                f"bert-score mistakes {folder} for a T5 model because of its name; "
                "move it."
            )
        if self.layers < 1:
            return "The layer to use is not set; set GENIE_BERTSCORE_LAYERS."
        if self.baseline and not Path(self.baseline).is_file():
            return f"There is no baseline file {self.baseline}."
        return None

    def _parameters(self) -> dict[str, object]:
        return {
            "model": fingerprint(model_folder(self.model, self.revision)),
            "layers": self.layers,
            "baseline": fingerprint_of(Path(self.baseline)) if self.baseline else "",
        }

    def _measure(self, batch: Batch) -> MetricOutput:
        folder = model_folder(self.model, self.revision)
        scorer = _scorer(str(folder), self.layers, self.baseline)
        predictions = list(batch.predictions)
        references = [list(texts) for texts in batch.references]
        table = np.concatenate(
            [
                _score(
                    scorer,
                    predictions[start : start + _CHUNK],
                    references[start : start + _CHUNK],
                )
                for start in range(0, len(batch), _CHUNK)
            ]
        )
        precision, recall, f1 = table.mean(axis=0).tolist()
        return MetricOutput(
            # the mean of the F1s, as the paper reports it, not the F1 of the means
            overall=f1,
            per_instance=table[:, 2],
            signature=(
                f"nrefs:{n_references(batch)}|multi:max|model:{fingerprint(folder)}|"
                f"layer:{self.layers}|idf:no|rescaled:{'yes' if self.baseline else 'no'}|"
                f"agg:mean|version:{self.version}"
            ),
            details={
                "precision": precision,
                "recall": recall,
                "model": self.model if not Path(self.model).is_dir() else folder.name,
                "n_cut": _n_cut(scorer, predictions),
            },
        )


# One model stays in memory: a second one could be more than the machine has.
@lru_cache(maxsize=1)
def _scorer(folder: str, layers: int, baseline: str) -> Any:
    scorer = import_module("bert_score").BERTScorer(
        model_type=folder,
        num_layers=layers,
        lang="en",  # says only where to look for baselines, which are named here
        rescale_with_baseline=bool(baseline),
        baseline_path=baseline or None,
    )
    # a tokenizer that was saved without its limit would hand over more than fits; two
    # places go to RoBERTa's offset
    positions = getattr(scorer._model.config, "max_position_embeddings", None)
    if positions and scorer._tokenizer.model_max_length > positions:
        scorer._tokenizer.model_max_length = positions - 2
    return scorer


def _score(
    scorer: Any, predictions: list[str], references: list[list[str]]
) -> NDArray[np.float64]:
    columns = scorer.score(predictions, references)
    table: NDArray[np.float64] = 100.0 * np.stack(
        [column.double().numpy() for column in columns], axis=1
    )
    return table


def _n_cut(scorer: Any, texts: list[str]) -> int:
    tokenizer = scorer._tokenizer
    limit = tokenizer.model_max_length
    # a character makes at most four tokens, one a byte; short texts need no second look
    long = [text for text in texts if 4 * len(text) + 2 > limit]
    return sum(len(tokenizer.tokenize(text)) + 2 > limit for text in long)
