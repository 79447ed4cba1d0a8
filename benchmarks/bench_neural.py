"""Neural metrics against the libraries' own loops, on models of random weights.

python -m benchmarks.bench_neural [--systems 4] [--instances 256] [--seed 0]

Needs the extra [neural] (`make test-neural` puts it into .venv-neural). Several systems'
outputs of the same instances are measured, as on a board: by bert-score's BERTScorer, by
the loop of bleurt-pytorch's page, in unbabel-comet's batches with its cache, and by ours. Models are loaded before; seconds are the processor's, on
one thread. The numbers must agree.
"""

import argparse
import tempfile
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from leaderboard.metrics.base import Batch, all_metrics

SIZES = {
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "max_position_embeddings": 514,
}
AT_LEAST = 1.0


def texts(n: int, rng: np.random.Generator, words: list[str]) -> list[str]:
    """Make up texts of 4 to 120 words, most of them short."""
    lengths = np.clip(rng.lognormal(3, 0.7, n), 4, 120).astype(int)
    return [" ".join(rng.choice(words, length)) for length in lengths]


def by_bert_score(folder: Path) -> Any:
    scorer = import_module("bert_score").BERTScorer(
        model_type=str(folder), num_layers=3, device="cpu"
    )

    def loop(batch: Batch) -> Any:
        references = [list(row) for row in batch.references]
        return 100 * scorer.score(list(batch.predictions), references)[2].numpy()

    return loop


def by_bleurt_pytorch(folder: Path) -> Any:
    library, torch = import_module("bleurt_pytorch"), import_module("torch")
    model = library.BleurtForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = library.BleurtTokenizer.from_pretrained(folder)

    def loop(batch: Batch) -> Any:
        values: list[float] = []
        for start in range(0, len(batch), 32):
            part = slice(start, start + 32)
            inputs = tokenizer(
                [row[0] for row in batch.references[part]],
                list(batch.predictions[part]),
                padding="longest",
                truncation="longest_first",
                max_length=512,
                return_tensors="pt",
            )
            with torch.no_grad():
                values += model(**inputs).logits.flatten().tolist()
        return values

    return loop


def by_comets_batches(folder: Path) -> Any:
    """Do as unbabel-comet, which cannot be installed here, with its cache turned on.

    Batches of 16 in the order of the sources' characters; what it has encoded of sources
    and references is kept from system to system.
    """
    torch = import_module("torch")
    module = import_module("leaderboard.metrics.engines.comet_model")
    model = module.CometModel(folder, folder / "encoder")
    kept: dict[tuple[str, ...], Any] = {}

    def encode(texts: tuple[str, ...]) -> Any:
        inputs = model.tokenizer(
            list(texts),
            padding=True,
            truncation=True,
            max_length=510,
            return_tensors="pt",
        )
        return model._pooled(inputs)

    def loop(batch: Batch) -> Any:
        order = np.argsort([len(text) for text in batch.sources], kind="stable")
        values = np.empty(len(batch))
        for start in range(0, len(batch), 16):
            rows = order[start : start + 16]
            sides = [
                tuple(batch.sources[row] for row in rows),
                tuple(batch.references[row][0] for row in rows),
            ]
            for texts in sides:
                if texts not in kept:
                    kept[texts] = encode(texts)
            s, r = (kept[texts] for texts in sides)
            h = encode(tuple(batch.predictions[row] for row in rows))
            features = [h, r, h * r, (h - r).abs(), h * s, (h - s).abs()]
            with torch.no_grad():
                values[rows] = model.estimator(torch.cat(features, dim=1)).flatten()
        return values

    return loop


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=4)
    parser.add_argument("--instances", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    needed = ("torch", "transformers", "bert_score", "bleurt_pytorch")
    if any(find_spec(name) is None for name in needed):
        print("not measured: the extra [neural] is not installed")
        return
    import_module("torch").set_num_threads(1)
    tiny = import_module("tests.leaderboard.metrics.tiny_models")
    rng = np.random.default_rng(args.seed)
    words = [word for word in tiny.WORDS if "#" not in word]
    sources, references = (texts(args.instances, rng, words) for _ in range(2))
    batches = [
        Batch(
            texts(args.instances, rng, words), [[text] for text in references], sources
        )
        for _ in range(args.systems)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = {
            "bertscore": (tiny.build_bert, by_bert_score, {"layers": 3}),
            "bleurt": (tiny.build_bleurt, by_bleurt_pytorch, {}),
            "comet": (tiny.build_comet, by_comets_batches, {}),
        }
        print(f"{args.systems} systems of {args.instances} instances, seconds CPU")
        for slug, (build, peer, more) in kinds.items():
            place = folder / slug
            build(place, **SIZES)
            metric = all_metrics()[slug](model=str(place), **more)
            metric.compute(Batch(["a"], [["a"]], ["a"]))  # loads the model
            compare(slug, metric, peer(place), batches)


def compare(slug: str, metric: Any, loop: Any, batches: list[Batch]) -> None:
    start = time.process_time()
    theirs = [loop(batch) for batch in batches]
    middle = time.process_time()
    ours = [metric.compute(batch).per_instance for batch in batches]
    end = time.process_time()
    apart = float(np.abs(np.array(theirs) - np.array(ours)).max())
    if apart > 1e-3:
        raise SystemExit(f"{slug}: the numbers differ by {apart}")
    ratio = (middle - start) / (end - middle)
    kept = "kept" if ratio >= AT_LEAST else "NOT kept"
    print(
        f"  {slug:10} library's loop {middle - start:6.1f}  ours {end - middle:6.1f}  "
        f"{ratio:4.2f} times as fast (at least {AT_LEAST:g}: {kept})"
    )


if __name__ == "__main__":
    main()
