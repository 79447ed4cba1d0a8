"""Judged outputs that come a second time with a phrase replaced (attention checks)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crowd.hits.selectors.questions import PREFILLED
from genie.lib.seeds import generator, seed_from
from leaderboard.designs.base import content_key
from leaderboard.evaluation.services.brought_marks import carried
from leaderboard.evaluation.services.items import JudgedSpec
from leaderboard.submissions.models.submission import Prediction
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Task
from quality.test_questions.edits.phrases import damaged
from quality.test_questions.services.inject import item_key
from quality.test_questions.services.plant import CopySpec

_OTHERS = 20


def copies(
    task: Task,
    human: HumanConfig,
    judged: Sequence[JudgedSpec],
    rows: Sequence[Prediction],
    *,
    campaign_key: str,
    seed: int,
) -> list[CopySpec]:
    """Draw outputs of those judged, and damage each with a phrase of another one.

    An input of its own, so that who judged the output can be shown the copy.
    """
    n, own = human.n_planted(len(judged)), seed_from("planted copies", seed)
    if not n:
        return []
    order = [int(i) for i in generator(own).permutation(len(judged))]
    found: list[CopySpec] = []
    for place, i in enumerate(order):
        text = str(judged[i].spec.data.get("prediction", ""))
        beside = (order[place + 1 :] + order[:place])[:_OTHERS]
        others = [rows[j].text for j in beside]
        name = rows[i].instance.instance_id
        made = damaged(text, others, seed=seed_from("phrase", own, name))
        if made is None:
            continue
        changed, old, new = made
        data = {**judged[i].spec.data, "prediction": changed}
        if PREFILLED in data:
            data[PREFILLED] = carried(data[PREFILLED], text, changed)
        spec = replace(
            judged[i].spec,
            key=item_key(campaign_key, "copy", name),
            data=data,
            content_key=content_key(f"{task.slug}:copy", name),
        )
        about = {"submission": rows[i].submission_id, "replaced": old, "by": new}
        found.append(CopySpec(spec, judged[i].spec.key, about))
        if len(found) == n:
            break
    return found
