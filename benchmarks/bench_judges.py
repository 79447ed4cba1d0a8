"""Judges: requests a second, and what Genie's ledger and store add to the bare client.

Both ask the same stand-in in the same run, in turns, with the same number at once; it answers after a
fixed delay, or at once, where nothing hides what the rest costs.
"""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from benchmarks.world import set_up

N_INSTANCES, N_SYSTEMS, AT_ONCE, ROUNDS = 50, 4, 8, 5


@contextmanager
def stand_in(delay: float):
    import os

    from tests.judge_server import serving

    with serving() as server:
        server.delay = delay
        os.environ["GENIE_JUDGES"] = "lab"
        os.environ["GENIE_JUDGE_LAB_URL"] = server.url
        os.environ["GENIE_JUDGE_LAB_PRIVATE"] = "yes"
        yield server


def world():
    from leaderboard.models import Prediction
    from tests.factories import make_submission, make_task, make_team, make_user

    owner = make_user("bench")
    task = make_task("bench-judges", n_instances=N_INSTANCES)
    for number in range(N_SYSTEMS):
        system = make_submission(
            task, team=make_team(f"t{number}", owner), owner=owner, system=f"S{number}"
        )
        Prediction.objects.bulk_create(
            Prediction(
                submission=system, instance=one, text=f"{number} " * (one.position + 5)
            )
            for one in task.instances.all()
        )
    return task


def with_genie(task, occasion: str) -> float:
    from leaderboard.judges.services import ask, decide, define
    from leaderboard.judges.services.work import work

    made = {"endpoint": "lab", "model": "m"}
    judge = define.make("lark", occasion, made, per_minute=0, at_once=AT_ONCE)
    run = ask.ask(judge, task, ask.Wish())
    assert decide.approve(run, by=None)
    start = time.perf_counter()
    while run.state == "RUNNING" or run.state == "ASKED":
        work(run.pk)
        run.refresh_from_db()
    seconds = time.perf_counter() - start
    assert run.calls.filter(state="VALID").count() == run.n_calls
    return run.n_calls / seconds


def with_client(bodies: list[dict], url: str) -> float:
    import openai

    client = openai.OpenAI(api_key="none", base_url=url, max_retries=0)
    start = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(lambda body: client.chat.completions.create(**body), bodies))
    return len(bodies) / (time.perf_counter() - start)


def main() -> None:
    set_up()
    task = world()
    for delay in (0.0, 0.2):
        with stand_in(delay) as server:
            ours, bare = [], []
            for number in range(ROUNDS):
                server.requests.clear()
                ours.append(with_genie(task, f"{server.port}-{number}"))
                bare.append(with_client(list(server.requests), server.url))
            report(delay, ours, bare)


def report(delay: float, ours: list[float], bare: list[float]) -> None:
    a, b = statistics.median(ours), statistics.median(bare)
    print(
        f"{N_INSTANCES * N_SYSTEMS} requests, {AT_ONCE} at once, answers after {delay:g} s: "
        f"{a:.0f} a second with ledger and store, {b:.0f} with the bare client "
        f"({a / b:.2f} of it; {1000 * (1 / a - 1 / b):.1f} ms more a request)"
    )


if __name__ == "__main__":
    main()
