"""Texts that are known to be wrong: outputs with a minimal edit, swapped references."""

from collections.abc import Iterator, Mapping, Sequence

from genie.lib.seeds import generator, seed_from
from leaderboard.evaluation.services.hidden.offers import (
    EDIT,
    SHUFFLED,
    SWAPPED,
    Offer,
)
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.tasks.models import Instance, Task
from quality.test_questions.edits.edit import Edit
from quality.test_questions.edits.kinds import ADEQUACY, FLUENCY, kinds_that_harm
from quality.test_questions.edits.make import edits_of
from quality.test_questions.services import shuffled_words

TRANSLATION = "translation"
# Number of edits of one output to choose from.
N_OF_AN_OUTPUT = 6
Texts = Mapping[int, Sequence[tuple[int | None, str]]]


def outputs_of(
    task: Task, systems: Sequence[Submission], instances: Sequence[Instance]
) -> dict[int, list[tuple[int, str]]]:
    """Return outputs with submissions: these systems', then published ones of others."""
    own = [system.pk for system in systems]
    public = Submission.objects.filter(
        task=task,
        state=Submission.State.PUBLISHED,
        visibility=Submission.Visibility.PUBLIC,
    ).exclude(pk__in=own)
    outputs: dict[int, list[tuple[int, str]]] = {row.pk: [] for row in instances}
    for pk in [*own, *public.order_by("pk").values_list("pk", flat=True)[:1]]:
        rows = Prediction.objects.filter(submission=pk, instance__in=outputs)
        for instance, text in rows.values_list("instance_id", "text"):
            outputs[instance].append((pk, text))
    return outputs


def edited(
    task: Task,
    instances: Sequence[Instance],
    outputs: Texts,
    harms: Mapping[str, Sequence[str]],
    *,
    seed: int,
) -> Iterator[list[Offer]]:
    """Yield edits of each instance's first editable output; `harms` lists criteria."""
    others = {pk: texts[0][1] for pk, texts in outputs.items() if texts}
    kinds = {
        kind: harm
        for harm, criteria in harms.items()
        if criteria
        for kind in kinds_that_harm(harm, says_everything=task.kind == TRANSLATION)
    }
    for instance in instances:
        for submission, text in outputs.get(instance.pk, ()):
            edits = edits_of(
                text,
                language=task.target_language,
                source_texts=[str(value) for value in instance.fields.values()],
                other_texts=[t for pk, t in others.items() if pk != instance.pk],
                same_input=[str(reference) for reference in instance.references],
                kinds=list(kinds),
                seed=seed,
            )[:N_OF_AN_OUTPUT]
            # Outputs of others may be public; own outputs are not yet.
            if edits:
                yield [
                    Offer(
                        instance.pk,
                        edit.text,
                        f"{EDIT}{edit.kind}",
                        harms[kinds[edit.kind]],
                        {"submission": submission, "edit": record_of(edit)},
                        kinds[edit.kind],
                    )
                    for edit in edits
                ]
                break


def record_of(edit: Edit) -> dict[str, object]:
    return {
        "kind": edit.kind,
        "before": edit.before,
        "after": edit.after,
        "start": edit.start,
        "change": edit.change,
        "sentence": edit.sentence,
    }


def swapped(
    instances: Sequence[Instance], criteria: Sequence[str], *, blind: bool, seed: int
) -> Iterator[list[Offer]]:
    """Yield other instances' references (Genie, section 5), each used once.

    If pages hide the input, another reference is no worse: words are shuffled instead.
    """
    rng = generator(seed_from("swapped references", seed))
    shift = int(rng.integers(1, len(instances))) if len(instances) > 1 else 0
    rotated = [*instances[shift:], *instances[:shift]]
    for instance, other in zip(instances, rotated, strict=True):
        own = {text.strip() for text in instance.references}
        texts = [text for text in other.references if text.strip() not in own]
        # Two instances may have the same input, and then it would not be wrong.
        if instance.fields == other.fields:
            texts = []
        if blind:
            texts = [shuffled_words(text, rng) for text in texts]
        kind = SHUFFLED if blind else SWAPPED
        made_from = {"instance": other.instance_id}
        yield [Offer(instance.pk, text, kind, criteria, made_from) for text in texts]


__all__ = ["ADEQUACY", "FLUENCY", "edited", "outputs_of", "record_of", "swapped"]
