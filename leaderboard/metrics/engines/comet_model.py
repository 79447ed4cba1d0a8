"""A COMET regression model, from the files of its release and transformers alone.

unbabel-comet needs NumPy below 2 and so cannot be installed beside Genie. A release needs
little code: a vector of each text (averaged over tokens, mixed over layers) and a
feed-forward network on three vectors, their products and their differences.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genie.lib.errors import GenieError
from leaderboard.metrics.engines.neural_models import cached_folder
from leaderboard.metrics.engines.pair_models import (
    Pairs,
    by_length,
    kept_vectors,
    place_on_device,
)

_AT_ONCE = 32
_RATED_AT_ONCE = 256
# settings shared by wmt20-comet-da's successors; other models compute differently
_EXPECTED = {
    "class_identifier": "regression_metric",
    "encoder_model": "XLM-RoBERTa",
    "pool": "avg",
    "layer": "mix",
    "layer_norm": False,
}


def files_of(folder: Path) -> list[Path]:
    """Return the two files of a release: ``hparams.yaml`` and ``checkpoints/model.ckpt``.

    Raises
    ------
    GenieError
        Code ``no-model``: a file is missing.

    Examples
    --------
    >>> files_of(Path("/no/such/folder"))
    Traceback (most recent call last):
        ...
    genie.lib.errors.GenieError: /no/such/folder has no hparams.yaml.
    """
    files = [folder / "hparams.yaml", folder / "checkpoints" / "model.ckpt"]
    for path in files:
        if not path.is_file():
            raise GenieError(
                f"{folder} has no {path.relative_to(folder)}.", code="no-model"
            )
    return files


def settings_of(folder: Path) -> dict[str, Any]:
    """Read a release's ``hparams.yaml``.

    Raises
    ------
    GenieError
        Code ``no-model``: it is not a regression model like wmt22-comet-da.
    """
    yaml = import_module("yaml")
    try:
        found = yaml.safe_load(files_of(folder)[0].read_text(encoding="utf-8"))
        wrong = [k for k, value in _EXPECTED.items() if found.get(k) != value]
    except (yaml.YAMLError, ValueError, AttributeError):
        wrong = ["everything"]
    if wrong:
        raise GenieError(
            f"{folder} is not a COMET regression model like wmt22-comet-da; another is "
            f"{', '.join(wrong)}.",
            code="no-model",
        )
    return dict(found)


def encoder_folder(name: str, folder: Path) -> Path:
    """Return a folder with the configuration and vocabulary of a release's encoder.

    It needs no weights, which are in the release.

    Parameters
    ----------
    name : str
        Folder or hub name; if empty, the name in the release.
    folder : Path
        Of the release.

    Raises
    ------
    GenieError
        Code ``no-model``.
    """
    found = cached_folder(name or str(settings_of(folder)["pretrained_model"]))
    if not (found / "config.json").is_file():
        raise GenieError(f"{found} has no config.json.", code="no-model")
    return found


class CometModel:
    """A loaded release; the vectors of references and sources are kept."""

    def __init__(self, folder: Path, encoder: Path) -> None:
        self.torch = import_module("torch")
        transformers = import_module("transformers")
        settings = settings_of(folder)
        state = self._state(files_of(folder)[1])
        config = transformers.AutoConfig.from_pretrained(encoder)
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
        # as in unbabel-comet: two places are XLM-R's offset, two stay free
        self.window = int(config.max_position_embeddings) - 4
        model = transformers.AutoModel.from_config(config, add_pooling_layer=False)
        prefix = "encoder.model."
        own = {
            key.removeprefix(prefix): value
            for key, value in state.items()
            if key.startswith(prefix)
        }
        missing = model.load_state_dict(own, strict=False).missing_keys
        if missing:
            raise GenieError(
                f"{folder} lacks weights of its encoder: {missing[0]}.", code="no-model"
            )
        self.layers = self._layers(state, settings.get("layer_transformation"))
        self.model, self.device, self.precision = place_on_device(model)
        self.estimator = self._estimator(state, settings).to(self.device).eval()
        self.kept = kept_vectors()

    def score(self, pairs: Pairs) -> tuple[list[float], int]:
        torch = self.torch
        vectors, cut = self._vectors(pairs)
        values: list[float] = []
        for start in range(0, len(pairs.predictions), _RATED_AT_ONCE):
            part = slice(start, start + _RATED_AT_ONCE)
            source, reference, prediction = (
                torch.stack([vectors[text] for text in texts[part]]).to(self.device)
                for texts in pairs
            )
            features = [prediction, reference]
            for other in (reference, source):
                features += [prediction * other, (prediction - other).abs()]
            with torch.inference_mode():
                rated = self.estimator(torch.cat(features, dim=1))
            values += rated.flatten().tolist()
        return values, sum(text in cut for text in pairs.predictions)

    def _state(self, path: Path) -> dict[str, Any]:
        try:
            # weights only: a pickle could run code
            loaded = self.torch.load(path, map_location="cpu", weights_only=True)
            return dict(loaded["state_dict"])
        except Exception as error:
            raise GenieError(
                f"{path} cannot be read as weights alone: {type(error).__name__}.",
                code="no-model",
            ) from error

    def _layers(self, state: dict[str, Any], transformation: str | None) -> list[float]:
        prefix = "layerwise_attention.scalar_parameters."
        numbers = sorted(
            int(key.removeprefix(prefix)) for key in state if key.startswith(prefix)
        )
        raw = np.array([state[f"{prefix}{n}"].item() for n in numbers])
        shares = sparsemax(raw) if transformation == "sparsemax" else _softmax(raw)
        gamma: float = state["layerwise_attention.gamma"].item()
        return [gamma * float(share) for share in shares]

    def _estimator(self, state: dict[str, Any], settings: dict[str, Any]) -> Any:
        nn = self.torch.nn
        prefix = "estimator.ff."
        numbers = sorted(
            int(key.removeprefix(prefix).removesuffix(".weight"))
            for key in state
            if key.startswith(prefix) and key.endswith(".weight")
        )
        modules: list[Any] = []
        for number in numbers:
            weight, bias = (state[f"{prefix}{number}.{k}"] for k in ("weight", "bias"))
            linear = nn.Linear(weight.shape[1], weight.shape[0])
            linear.load_state_dict({"weight": weight, "bias": bias})
            modules += [linear, getattr(nn, settings["activations"].title())()]
        modules.pop()  # the last layer has a different activation, if any
        if last := settings.get("final_activation"):
            modules.append(getattr(nn, last.title())())
        return nn.Sequential(*modules).float()

    def _vectors(self, pairs: Pairs) -> tuple[dict[str, Any], set[str]]:
        again = dict.fromkeys([*pairs.sources, *pairs.references])
        found = {text: self.kept.get(text) for text in again}
        # predictions always, to know which of them were cut
        new = dict.fromkeys(text for text, vector in found.items() if vector is None)
        new.update(dict.fromkeys(pairs.predictions))
        texts = list(new)
        tokens = self.tokenizer(texts, verbose=False)["input_ids"]
        cut = {
            text for text, ids in zip(texts, tokens, strict=True) if self._too_long(ids)
        }
        # the end mark stays, as when the tokenizer cuts
        tokens = [
            [*ids[: self.window - 1], ids[-1]] if self._too_long(ids) else ids
            for ids in tokens
        ]
        for rows in by_length([len(ids) for ids in tokens], _AT_ONCE):
            inputs = self.tokenizer.pad(
                {"input_ids": [tokens[row] for row in rows]}, return_tensors="pt"
            ).to(self.device)
            for row, vector in zip(rows, self._pool(inputs), strict=True):
                found[texts[row]] = vector
        for text in again:
            self.kept.put(text, found[text])
        return found, cut

    def _too_long(self, ids: list[int]) -> bool:
        return len(ids) > self.window

    def _pool(self, inputs: Any) -> Any:
        with self.torch.inference_mode():
            states = self.model(**inputs, output_hidden_states=True).hidden_states
            mixed = sum(
                share * state.float()
                for share, state in zip(self.layers, states, strict=True)
            )
            mask = inputs["attention_mask"].unsqueeze(-1).float()
            return ((mixed * mask).sum(1) / mask.sum(1)).cpu()


def _softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(values - values.max())
    return np.asarray(weights / weights.sum())


def sparsemax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project values onto the simplex: shares with sum 1, many of them exactly 0.

    References
    ----------
    Martins, Astudillo (2016), "From Softmax to Sparsemax", ICML, algorithm 1.
    """
    ordered = np.sort(values)[::-1]
    sums = np.cumsum(ordered)
    ranks = np.arange(1, len(values) + 1)
    last = np.flatnonzero(1 + ranks * ordered > sums)[-1]
    return np.asarray(np.maximum(values - (sums[last] - 1) / (last + 1), 0.0))
