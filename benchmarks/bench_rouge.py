"""ROUGE: our one pass over the texts against rouge-score as it comes.

python -m benchmarks.bench_rouge [--summaries 11000] [--words 25] [--seed 0]

Both measure the same made-up summaries in one process each after the other, stemmer on:
ROUGE-1, 2 and L first, then ROUGE-Lsum on summaries of several lines. The values must be
identical to the last bit; a faster number that is another number would be no speed. Ours
starts with an empty memory of stems.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from rouge_score.rouge_scorer import RougeScorer

from leaderboard.metrics.base import Batch, all_metrics
from leaderboard.metrics.text.porter_words import stem

PROMISED = 5
KINDS = ["rouge1", "rouge2", "rougeL"]
ONSETS = ["b", "br", "d", "gr", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "w"]
VOWELS = ["a", "e", "i", "o", "u", "ea", "oo"]
ENDS = ["", "", "", "s", "ed", "ing", "er", "ly", "ation", "ness", "ies", "ful"]


def vocabulary(size, rng):
    """Make up words that a stemmer has work with."""
    words = set()
    while len(words) < size:
        body = "".join(
            rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(rng.integers(1, 4))
        )
        words.add(body + rng.choice(ENDS))
    return np.array(sorted(words))


def texts(n, length, rng, lines=1):
    """Write n pairs of texts that share about half of their words."""
    words = vocabulary(20_000, rng)
    share = 1 / np.arange(1, len(words) + 1)
    share /= share.sum()

    def text(drawn):
        cut = np.array_split(drawn, lines)
        return "\n".join(" ".join(part) + "." for part in cut)

    predictions, references = [], []
    for _ in range(n):
        one = rng.choice(words, max(lines, rng.poisson(length)), p=share)
        other = np.where(rng.random(len(one)) < 0.5, one, rng.choice(words, len(one)))
        predictions.append(text(one))
        references.append([text(other)])
    return Batch(predictions, references)


def theirs(batch, kinds):
    scorer = RougeScorer(kinds, use_stemmer=True)
    scores = [
        scorer.score_multi(references, prediction)
        for prediction, references in zip(
            batch.predictions, batch.references, strict=True
        )
    ]
    return {kind: [100.0 * row[kind].fmeasure for row in scores] for kind in kinds}


def ours(batch, kinds):
    stem.cache_clear()
    return {
        kind: all_metrics()[kind]().compute(batch).per_instance.tolist()
        for kind in kinds
    }


def compare(name, batch, kinds):
    start = time.process_time()
    expected = theirs(batch, kinds)
    middle = time.process_time()
    found = ours(batch, kinds)
    end = time.process_time()
    ratio = (middle - start) / (end - middle)
    same = "identical" if found == expected else "DIFFERENT"
    print(
        f"{name:34} rouge-score {middle - start:6.2f} s   ours {end - middle:5.2f} s   "
        f"{ratio:5.1f} x   values {same}"
    )
    return ratio, found == expected


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--summaries", type=int, default=11_000)
    parser.add_argument("--words", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    few = texts(20, args.words, rng)
    theirs(few, [*KINDS, "rougeLsum"])  # nobody pays for the imports
    ours(few, [*KINDS, "rougeLsum"])
    batch = texts(args.summaries, args.words, rng)
    ratio, same = compare(f"ROUGE-1/2/L, {args.summaries:,} summaries", batch, KINDS)
    several = texts(args.summaries // 10, 4 * args.words, rng, lines=4)
    _, same_too = compare(
        f"ROUGE-Lsum, {args.summaries // 10:,} of four lines", several, ["rougeLsum"]
    )
    kept = "kept" if ratio >= PROMISED and same and same_too else "NOT kept"
    print(f"promised {PROMISED} x with identical values: {kept}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the process {peak:,.0f} MB")


if __name__ == "__main__":
    main()
