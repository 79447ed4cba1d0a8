"""Loading a task and taking a submission in, against the bare work underneath.

Seconds are the processor's, so that a busy machine changes little.
"""

import io
import json
import time
from collections.abc import Callable
from typing import Any

from benchmarks import world

N_LARGE = 11_000
N_SMALL = 1_000
STORE_AT_MOST = 3
INTAKE_AT_MOST = 1.5


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def best(work: Callable[[], object], again: int = 5) -> float:
    return min(seconds(work) for _ in range(again))


def bare_inserts(task_pk: int, submission_pk: int, references: list[str]) -> float:
    """Time the same rows going in by bulk_create with nothing around it."""
    from django.db import transaction

    from leaderboard.models import Instance, Prediction

    def insert() -> None:
        with transaction.atomic():
            instances = Instance.objects.bulk_create(
                [
                    Instance(
                        task_id=task_pk,
                        instance_id=f"bare.{i}",
                        position=10**6 + i,
                        fields={"source": text},
                        references=[text],
                        sample_rank=i,
                    )
                    for i, text in enumerate(references)
                ],
                batch_size=2_000,
            )
            Prediction.objects.bulk_create(
                [
                    Prediction(
                        submission_id=submission_pk, instance=instance, text=text
                    )
                    for instance, text in zip(instances, references, strict=True)
                ],
                batch_size=2_000,
            )
            transaction.set_rollback(True)

    return best(insert)


def alone(predictions: list[str], references: list[str]) -> float:
    """Time sacrebleu and rouge-score by themselves on the same texts."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU, CHRF

    def score() -> None:
        BLEU().corpus_score(predictions, [references])
        CHRF().corpus_score(predictions, [references])
        scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
        for prediction, reference in zip(predictions, references, strict=True):
            scorer.score(reference, prediction)

    return best(score)


def main() -> None:
    folder = world.set_up()
    from django.contrib.auth import get_user_model

    from leaderboard.metric_runs import services
    from leaderboard.models import Submission, Task
    from leaderboard.submissions.services import lifecycle, submit
    from leaderboard.tasks.services import load

    owner = get_user_model().objects.create_user("bench")
    team = submit.team_for(owner)

    def hand_in(task: Task, ids: list[str], predictions: list[str]) -> Submission:
        content = json.dumps(dict(zip(ids, predictions, strict=True))).encode()
        return submit.receive(
            task=task,
            owner=owner,
            team=team,
            system_name="Bench",
            file=io.BytesIO(content),
            file_name="p.json",
        )

    source, ids, references = world.release(folder, N_LARGE)
    t_load = seconds(lambda: load.load_task("wmt21-de-en", source))
    task = Task.objects.get(slug="wmt21-de-en")
    submission = hand_in(task, ids, world.noisy(references, seed=3))
    t_store = seconds(lambda: lifecycle.validate(submission.pk))
    t_bare = bare_inserts(task.pk, submission.pk, references)
    print(
        f"load {N_LARGE} instances {t_load:.2f} s + store {N_LARGE} predictions "
        f"{t_store:.2f} s = {(t_load + t_store) / t_bare:.2f} x the bare bulk inserts "
        f"({t_bare:.2f} s); at most {STORE_AT_MOST}"
    )
    t_large = seconds(lambda: services.run(submission.pk))

    small_source, ids, references = world.lines(folder, N_SMALL)
    load.load_task("demo-translation", small_source)
    small = Task.objects.get(slug="demo-translation")
    predictions = world.noisy(references, seed=3)
    t_alone = alone(predictions, references)

    warnings_for, looking = services.warnings_for, [0.0]

    def timed(one: Submission, batch: Any) -> list[dict[str, Any]]:
        start = time.process_time()
        found = warnings_for(one, batch)
        looking[0] = time.process_time() - start
        return found

    services.warnings_for = timed

    def intake() -> None:
        one = hand_in(small, ids, predictions)
        lifecycle.validate(one.pk)
        services.run(one.pk)
        Submission.objects.filter(pk=one.pk).update(state="INVALID")

    t_intake, t_looking = min((seconds(intake), looking[0]) for _ in range(5))
    ratio = (t_intake - t_looking) / t_alone
    print(
        f"intake, validation and metrics of {N_SMALL}: {t_intake - t_looking:.2f} s = "
        f"{ratio:.2f} x sacrebleu + rouge-score alone ({t_alone:.2f} s); "
        f"at most {INTAKE_AT_MOST}; with the pre-flight {t_intake / t_alone:.2f} x"
    )
    print(
        f"metrics and pre-flight of {N_LARGE}: {t_large:.2f} s = "
        f"{t_large / t_intake:.1f} x {N_SMALL} (11 is linear)"
    )
    if (t_load + t_store) / t_bare > STORE_AT_MOST or ratio > INTAKE_AT_MOST:
        raise SystemExit(f"promised: at most {STORE_AT_MOST} and {INTAKE_AT_MOST}")


if __name__ == "__main__":
    main()
