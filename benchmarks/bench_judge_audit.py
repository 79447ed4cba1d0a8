"""The audit of judges, through the site: planted biases found, and none where there is none.

Each world is a task of its own with outputs, people's ratings (or choices), and a run of
every scripted judge with its audit: calls, stored answers, the licence's reasons. Counted
is in how many worlds each bias was found.
"""

import argparse
import time
from collections import Counter

from benchmarks.world import set_up

N_SYSTEMS, N_INSTANCES, AUDITED = 4, 30, 30


def audited(seed: int, mode: str) -> dict[str, set[str]]:
    import numpy as np

    from leaderboard.judges.selectors.validation import validation_of
    from tests.leaderboard.judges import planted
    from tests.leaderboard.judges.conftest import approved

    slug = f"{mode}-{seed}"
    task = planted.make_world(
        slug, seed=seed, n_systems=N_SYSTEMS, n_instances=N_INSTANCES
    )
    ask_people = planted.compare if mode == "pairwise" else planted.rate
    ask_people(task, np.random.default_rng(seed))
    found = {}
    for script in SCRIPTS[mode]:
        judge = planted.make_script(script, mode=mode)
        run = planted.done(approved(judge, task, audit=AUDITED))
        assert run.state == "DONE", run.failure
        reasons = planted.biases(validation_of(run, "overall"))
        found[script] = {name for name, one in reasons.items() if not one.holds}
    return found


SCRIPTS = {
    "pointwise": ("words", "likes-long", "obeys"),
    "pairwise": ("words", "likes-long", "likes-first", "obeys"),
}
BIASES = ("length", "lists and markup", "own family", "order", "injection")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--mode", choices=list(SCRIPTS))
    given = parser.parse_args()
    n = given.worlds
    set_up()
    print(f"{n} worlds, {N_SYSTEMS} systems, {N_INSTANCES} instances, 3 people")
    print("mode       script       " + "  ".join(BIASES))
    for mode, scripts in SCRIPTS.items():
        if given.mode not in {None, mode}:
            continue
        start = time.perf_counter()
        counts = {script: Counter[str]() for script in scripts}
        for seed in range(n):
            for script, names in audited(seed, mode).items():
                counts[script].update(names)
        for script in scripts:
            cells = (f"{counts[script][name]:>{len(name)}}" for name in BIASES)
            print(f"{mode:10} {script:12} " + "  ".join(cells), flush=True)
        print(f"({(time.perf_counter() - start) / n:.1f} s a world)", flush=True)


if __name__ == "__main__":
    main()
