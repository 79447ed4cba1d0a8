"""BERTScore as bert-score computes it, from a model on this machine."""

from collections.abc import Sequence
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genie.lib import env
from genie.lib.errors import GenieError
from leaderboard.metrics.base import Batch, Metric, MetricOutput, n_references, versions
from leaderboard.metrics.engines.neural_models import (
    fingerprint,
    lacking_library,
    model_folder,
)
from leaderboard.metrics.engines.pair_models import (
    by_length,
    kept_vectors,
    place_on_device,
    precision_part,
)

# instances whose vectors are in memory at a time
_CHUNK = 256
_AT_ONCE = 64


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
        if lacking := lacking_library("bert_score"):
            return lacking
        try:
            folder = model_folder(self.model, self.revision)
        except GenieError as error:
            return f"{error.message} Set GENIE_BERTSCORE_MODEL."
        if "t5" in str(folder):
            return (
                f"bert-score mistakes {folder} for a T5 model because of its name. "
                "Rename the folder."
            )
        if self.layers < 1:
            return "The layer to use is not set. Set GENIE_BERTSCORE_LAYERS."
        if self.baseline and not Path(self.baseline).is_file():
            return f"There is no baseline file {self.baseline}."
        return None

    def _parameters(self) -> dict[str, object]:
        return {
            "model": fingerprint(model_folder(self.model, self.revision)),
            "layers": self.layers,
            "baseline": fingerprint(Path(self.baseline)) if self.baseline else "",
        }

    def _measure(self, batch: Batch) -> MetricOutput:
        folder = model_folder(self.model, self.revision)
        scorer = _scorer(str(folder), self.layers, self.baseline)
        scorer.n_cut = 0
        table = np.concatenate(
            [
                scorer.score(
                    batch.predictions[start : start + _CHUNK],
                    batch.references[start : start + _CHUNK],
                )
                for start in range(0, len(batch), _CHUNK)
            ]
        )
        precision, recall, f1 = table.mean(axis=0).tolist()
        return MetricOutput(
            # the mean of the F1s, as in the paper, not the F1 of the means
            overall=f1,
            per_instance=table[:, 2],
            signature=f"nrefs:{n_references(batch)}|multi:max|model:{fingerprint(folder)}|"
            f"layer:{self.layers}|idf:no|rescaled:{'yes' if self.baseline else 'no'}|"
            f"{precision_part(scorer.precision)}agg:mean|version:{self.version}",
            details={
                "precision": precision,
                "recall": recall,
                "model": self.model if not Path(self.model).is_dir() else folder.name,
                "n_cut": scorer.n_cut,
            },
        )


class _Scorer:
    """bert-score's own steps, in an order that repeats none of them.

    The library encodes all texts again for every system. Here references stay encoded,
    and texts are put into batches by their tokens, not by their words.
    """

    def __init__(self, folder: str, layers: int, baseline: str) -> None:
        self.torch = import_module("torch")
        self.library = import_module("bert_score.utils")
        scorer = import_module("bert_score").BERTScorer(
            model_type=folder,
            num_layers=layers,
            lang="en",  # only selects baselines, which are given here
            rescale_with_baseline=bool(baseline),
            baseline_path=baseline or None,
        )
        self.baseline = scorer.baseline_vals if baseline else None
        self.tokenizer = scorer._tokenizer
        # a tokenizer saved without its limit returns more tokens than fit; RoBERTa's
        # offset takes two places
        positions = getattr(scorer._model.config, "max_position_embeddings", None)
        if positions and self.tokenizer.model_max_length > positions:
            self.tokenizer.model_max_length = positions - 2
        self.model, self.device, self.precision = place_on_device(scorer._model)
        self.unweighted = {self.tokenizer.sep_token_id, self.tokenizer.cls_token_id}
        self.kept = kept_vectors()
        self.n_cut = 0

    def score(
        self, predictions: Sequence[str], references: Sequence[Sequence[str]]
    ) -> NDArray[np.float64]:
        """Return precision, recall and F1 of each best reference, shape (n, 3), in percent."""
        owners = np.repeat(
            np.arange(len(predictions)), [len(texts) for texts in references]
        )
        flat = [text for texts in references for text in texts]
        tokens = self._tokens([*flat, *predictions])
        self.n_cut += sum(self._cut(text, tokens[text]) for text in predictions)
        vectors = self._vectors(tokens, flat)
        table = np.empty((len(flat), 3))
        sizes = [
            len(tokens[text]) + len(tokens[predictions[owner]])
            for text, owner in zip(flat, owners.tolist(), strict=True)
        ]
        for rows in by_length(sizes, _AT_ONCE):
            table[rows] = self._match(
                [predictions[owners[row]] for row in rows],
                [flat[row] for row in rows],
                tokens,
                vectors,
            )
        if self.baseline is not None:
            base = self.baseline.double().numpy()
            table = (table - base) / (1 - base)
        best = np.full((len(predictions), 3), -np.inf)
        np.maximum.at(best, owners, table)
        return 100.0 * best

    def _tokens(self, texts: list[str]) -> dict[str, list[int]]:
        distinct = dict.fromkeys(texts)
        encode = self.library.sent_encode
        return {text: encode(self.tokenizer, text) for text in distinct}

    def _cut(self, text: str, ids: list[int]) -> bool:
        limit: int = self.tokenizer.model_max_length
        # only a text that fills the window can be longer than it
        return len(ids) >= limit and len(self.tokenizer.tokenize(text)) + 2 > limit

    def _vectors(self, tokens: dict[str, list[int]], flat: list[str]) -> dict[str, Any]:
        found = {text: self.kept.get(text) for text in tokens}
        new = [text for text, vectors in found.items() if vectors is None]
        for rows in by_length([len(tokens[text]) for text in new], _AT_ONCE):
            ids, _, mask = self.library.padding(
                [tokens[new[row]] for row in rows], self.tokenizer.pad_token_id
            )
            encoded = self.library.bert_encode(
                self.model, ids.to(self.device), mask.to(self.device)
            ).cpu()
            for row, vectors in zip(rows, encoded, strict=True):
                found[new[row]] = vectors[: len(tokens[new[row]])]
        for text in flat:
            self.kept.put(text, found[text])
        return found

    def _match(
        self,
        predictions: list[str],
        references: list[str],
        tokens: dict[str, list[int]],
        vectors: dict[str, Any],
    ) -> NDArray[np.float64]:
        torch = self.torch
        padded = partial(torch.nn.utils.rnn.pad_sequence, batch_first=True)
        sides: list[Any] = []
        for texts in (references, predictions):
            lengths = torch.tensor([len(tokens[text]) for text in texts])
            mask = torch.arange(int(lengths.max())) < lengths[:, None]
            weights = [
                torch.tensor([float(i not in self.unweighted) for i in tokens[text]])
                for text in texts
            ]
            # two tokens, as bert-score pads: an empty text would have no direction
            states = padded(
                [vectors[text].float() for text in texts], padding_value=2.0
            )
            sides += [states.to(self.device), mask.to(self.device), padded(weights)]
        with torch.no_grad():
            columns = self.library.greedy_cos_idf(*sides)
        table: NDArray[np.float64] = torch.stack(columns, dim=-1).double().cpu().numpy()
        return table


# Only one model stays in memory, which may not have room for two.
@lru_cache(maxsize=1)
def _scorer(folder: str, layers: int, baseline: str) -> _Scorer:
    return _Scorer(folder, layers, baseline)
