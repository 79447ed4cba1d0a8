from __future__ import annotations

from typing import Any

from django.db import migrations

NO_STRENGTHS = "they are about to be computed"
COVERED = (
    "which instances were drawn, for this crowd of workers; another crowd may differ by "
    "more"
)


def score_again(apps: Any, schema_editor: Any) -> None:
    """Give skills as differences to the mean, and let joint evaluations be rescored."""
    for joint in apps.get_model("leaderboard", "JointEvaluation").objects.iterator():
        criteria = joint.results.get("criteria", {})
        for result in criteria.values():
            skills = result.get("true_skill", [])
            if not skills or "mu" not in skills[0]:
                continue
            mean = sum(skill["mu"] for skill in skills) / len(skills)
            result["true_skill"] = [
                {
                    "skill": skill["mu"] - mean,
                    "skill_low": None,
                    "skill_high": None,
                    "cluster": skill["cluster"],
                }
                for skill in skills
            ]
            nothing = dict.fromkeys(("strength", "strength_low", "strength_high"))
            result["bradley_terry"] = [{**nothing} for _ in skills]
            result["no_strengths"] = NO_STRENGTHS
            result["covers"] = COVERED
        joint.save(update_fields=["results"])
    evaluations = apps.get_model("leaderboard", "HumanEvaluation").objects
    evaluations.filter(joint__isnull=False, state="SCORED").update(scored_at=None)


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0024_scores_name_their_estimates"),
    ]

    operations = [
        migrations.RunPython(score_again, migrations.RunPython.noop),
    ]
