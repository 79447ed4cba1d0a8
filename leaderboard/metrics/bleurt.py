"""BLEURT, from a model on this machine."""

from __future__ import annotations

from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from leaderboard.metrics.base import versions
from leaderboard.metrics.engines.pair_models import (
    PairMetric,
    Pairs,
    by_length,
    place_on_device,
)

_AT_ONCE = 32


class Bleurt(PairMetric):
    """BLEURT: a trained model's prediction of the human rating.

    Mean over instances on the model's own scale, on which most texts are between 0 and 1
    without a strict limit; the best reference counts. Computed by the PyTorch port
    (bleurt-pytorch) of a model chosen by the operator; the signature contains a fingerprint
    of its files. Texts longer than its window are cut, and counted in the details.

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
    """

    slug = "bleurt"
    label = "BLEURT"
    version = versions(1, "bleurt-pytorch", "transformers", "torch")
    higher_is_better = True
    range = (float("-inf"), None)
    paper = "Sellam et al. 2020"
    variable = "BLEURT"
    library = "bleurt_pytorch"

    def _scorer(self, folder: Path) -> _Scorer:
        return _load(str(folder))


class _Scorer:
    def __init__(self, folder: str) -> None:
        library = import_module("bleurt_pytorch")
        self.torch = import_module("torch")
        self.tokenizer = library.BleurtTokenizer.from_pretrained(folder)
        model = library.BleurtForSequenceClassification.from_pretrained(folder)
        self.window = min(Bleurt.window, int(model.config.max_position_embeddings))
        self.model, self.device, self.precision = place_on_device(model)

    def score(self, pairs: Pairs) -> tuple[list[float], int]:
        tokens = self._tokens([*pairs.references, *pairs.predictions])
        pair = partial(
            self.tokenizer.prepare_for_model,
            truncation="longest_first",
            max_length=self.window,
            verbose=False,
        )
        encoded = [
            # copies, because cutting a pair changes its lists
            pair(list(tokens[reference]), list(tokens[prediction]))
            for reference, prediction in zip(
                pairs.references, pairs.predictions, strict=True
            )
        ]
        places = self.window - self.tokenizer.num_special_tokens_to_add(pair=True)
        n_cut = sum(
            len(tokens[reference]) + len(tokens[prediction]) > places
            for reference, prediction in zip(
                pairs.references, pairs.predictions, strict=True
            )
        )
        values = [0.0] * len(encoded)
        lengths = [len(row["input_ids"]) for row in encoded]
        for rows in by_length(lengths, _AT_ONCE):
            inputs: Any = self.tokenizer.pad(
                [encoded[row] for row in rows], padding="longest", return_tensors="pt"
            ).to(self.device)
            with self.torch.inference_mode():
                found = self.model(**inputs).logits.float().flatten().tolist()
            for row, value in zip(rows, found, strict=True):
                values[row] = value
        return values, n_cut

    def _tokens(self, texts: list[str]) -> dict[str, list[int]]:
        """Tokenize each text once, however many pairs contain it."""
        distinct = list(dict.fromkeys(texts))
        encoded = self.tokenizer(distinct, add_special_tokens=False, verbose=False)
        return dict(zip(distinct, encoded["input_ids"], strict=True))


# Only one model stays in memory, which may not have room for two.
@lru_cache(maxsize=1)
def _load(folder: str) -> _Scorer:
    return _Scorer(folder)
