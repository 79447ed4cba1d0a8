from crowd.hits.models.campaign import Item
from leaderboard.demo.systems import systems_of
from leaderboard.designs.base import content_key
from leaderboard.evaluation.models.anchor import AnchorItem
from leaderboard.evaluation.models.human_evaluation import JudgedItem
from leaderboard.submissions.models.submission import Prediction
from leaderboard.tasks.models import Instance

OPINIONS = {"right": 0.95, "partly": 0.5, "wrong": 0.08}


class Opinions:
    """Item to opinion, from the folders' own notes; a reference is right."""

    def __init__(self, pools: list[str]) -> None:
        self._notes = {
            (slug, system["name"]): system
            for slug in pools
            for system in systems_of(slug)
        }
        self._references = {
            content_key(slug, instance_id): set(references)
            for slug, instance_id, references in Instance.objects.filter(
                task__slug__in=pools
            ).values_list("task__slug", "instance_id", "references")
        }

    def __call__(self, item: Item) -> float:
        anchors, own = AnchorItem.objects.filter(item=item), "evaluation__submission"
        judged = (
            anchors.values_list(*_about("submission")).first()
            or JudgedItem.objects.filter(item=item).values_list(*_about(own)).first()
        )
        if judged is None:
            return self._of_test(item)
        return self._of_output(*judged)

    def _of_test(self, item: Item) -> float:
        text = item.data["prediction"]
        if text in self._references.get(item.content_key, set()):
            return OPINIONS["right"]
        rows = Prediction.objects.filter(text=text).values_list(
            "submission__task__slug",
            "submission__system_name",
            "instance__instance_id",
        )
        for slug, system, instance_id in rows:
            known = (slug, system) in self._notes
            if known and content_key(slug, instance_id) == item.content_key:
                return self._of_output(slug, system, instance_id)
        return OPINIONS["wrong"]

    def _of_output(self, slug: str, system: str, instance_id: str) -> float:
        notes = self._notes[slug, system]
        for opinion, value in OPINIONS.items():
            if instance_id in notes.get(opinion, ()):
                return value
        return OPINIONS[notes["usual"]]


def _about(submission: str) -> tuple[str, str, str]:
    task = f"{submission}__task__slug"
    return task, f"{submission}__system_name", "instance__instance_id"
