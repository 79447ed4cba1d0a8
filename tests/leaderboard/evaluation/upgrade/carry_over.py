"""Fill a database as the version before had it, migrate it, print what is there then."""

from __future__ import annotations

import json
import sys

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.db import connection  # noqa: E402
from django.db.migrations.executor import MigrationExecutor  # noqa: E402
from django.db.migrations.loader import MigrationLoader  # noqa: E402
from django.utils import timezone  # noqa: E402

BEFORE = [
    ("leaderboard", "0017_submissions_can_be_stopped"),
    ("crowd", "0018_longer_notices"),
]
HUMAN = {
    "design": "direct-assessment",
    "sample_size": 4,
    "criteria": {"overall": "Good?"},
}
NOW = timezone.now()


def migrate(targets=None):
    """Migrate to these, or to the newest: the facts are read by the models of today."""
    executor = MigrationExecutor(connection)
    if targets:  # what lies between is part of what the migrations were squashed to
        executor.loader = MigrationLoader(connection, replace_migrations=False)
    targets = targets or executor.loader.graph.leaf_nodes()
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


class Before:
    """Rows of the version before, made with its models."""

    def __init__(self, apps):
        self.apps = apps
        self.boss = self.make("auth.User", username="boss")
        self.nina = self.make("auth.User", username="nina")
        self.task = self.make(
            "leaderboard.Task",
            slug="tidy-news",
            title="Tidy news",
            kind="summarization",
            config={"human": HUMAN, "fields": {}},
            n_instances=4,
            sample_seed=1,
            release_sha256="0" * 64,
        )
        self.instance = self.make(
            "leaderboard.Instance",
            task=self.task,
            instance_id="i0",
            position=0,
            fields={},
            sample_rank=0,
        )
        self.team = self.make("leaderboard.Team", slug="heron", name="Heron")

    def make(self, model, **fields):
        return self.apps.get_model(model).objects.create(**fields)

    def campaign(self, key, *criteria):
        hit_type = self.make(
            "crowd.HITType",
            template="summarization",
            scale="likert-5",
            criteria=dict.fromkeys(criteria, "?"),
            title="Judge",
            description="Judge",
            reward_cents=9,
            fingerprint=key[-64:],
        )
        self.make(
            "crowd.Commitment",
            key=key,
            pool="tidy-news",
            amount_cents=1234,
            approved_by=self.boss,
        )
        return self.make(
            "crowd.Campaign",
            key=key,
            pool="tidy-news",
            title="Judge texts",
            hit_type=hit_type,
            state="RUNNING",
            budget_cents=1234,
            seed=3,
            starts_at=NOW,
        )

    def submission(self, name, state, **fields):
        return self.make(
            "leaderboard.Submission",
            task=self.task,
            team=self.team,
            owner=self.nina,
            system_name=name,
            state=state,
            file="kite.json",
            file_name="kite.json",
            file_sha256="0" * 64,
            file_bytes=1,
            **fields,
        )

    def evaluation(self, submission, key, *criteria, apart=()):
        found = self.make(
            "leaderboard.HumanEvaluation",
            task=self.task,
            submission=submission,
            campaign=self.campaign(key, *criteria),
            design="direct-assessment",
            n_instances=4,
            seed=77,
            scored_at=NOW,
        )
        for name in apart:
            self.make(
                "leaderboard.SeparateCampaign",
                evaluation=found,
                campaign=self.campaign(f"{key}:{name}", name),
                criterion=name,
            )
        return found

    def fill(self):
        decided = {"decided_by": self.boss, "approved_cents": 1234}
        self.submission("Received", "RECEIVED")
        self.submission("Measured", "MEASURED")
        self.submission(
            "Declined", "DECLINED", decided_by=self.boss, decision_reason="Too dear."
        )
        self.submission("Approved", "APPROVED", start_now=True, **decided)
        self.submission("Taken back", "WITHDRAWN")
        self.evaluation(
            self.submission(
                "Annotated",
                "ANNOTATED",
                failed_step="score",
                failure="No rating.",
                failure_permanent=True,
                n_attempts=2,
                **decided,
            ),
            "submission:annotated",
            "overall",
        )
        a = self.submission("Kite", "PUBLISHED", published_at=NOW, **decided)
        b = self.submission("Wren", "PUBLISHED", published_at=NOW, **decided)
        scored = self.evaluation(a, "submission:a", "right", apart=("clear",))
        self.evaluation(b, "submission:b", "overall")
        self.judged(a, scored)
        self.several(a, b, decided)
        self.odd(a, b, decided)

    def odd(self, a, b, decided):
        """Add what failed, was stopped or taken back, and a task that says too little."""
        failed = {"failure": "No space.", "failure_permanent": True, "n_attempts": 3}
        self.submission(
            "Not launched", "APPROVED", failed_step="launch", **failed, **decided
        )
        for name, state in (("Halted", "STOPPED"), ("Gone", "WITHDRAWN")):
            key = f"submission:{name.lower()}"
            self.evaluation(self.submission(name, state, **decided), key, "overall")
        self.submission("Never begun", "WITHDRAWN", **decided)
        asked = {"task": self.task, "requested_by": self.nina, "seed": 6, **decided}
        pair = {**asked, "a": a, "b": b, "criterion": "overall", "delta": 0.05}
        pair |= {"rule": "beta-mixture", "wave_size": 10, "max_pairs": 40}
        self.make(
            "leaderboard.Comparison", pk=33, state="STOPPED", finished_at=NOW, **pair
        )
        self.make("leaderboard.Comparison", pk=34, state="APPROVED", **failed, **pair)
        self.make(
            "leaderboard.JointEvaluation",
            pk=42,
            state="SCORED",
            evaluation=self.evaluation(None, "joint:42", "overall"),
            criteria=["overall"],
            n_instances=3,
            **failed,
            **asked,
        )
        self.task = self.make(
            "leaderboard.Task",
            slug="bare",
            title="Bare",
            kind="summarization",
            config={"fields": {}},
            n_instances=4,
            sample_seed=1,
            release_sha256="0" * 64,
        )
        self.submission("Bare", "MEASURED")

    def judged(self, submission, evaluation):
        hit = self.make(
            "crowd.HIT",
            campaign=evaluation.campaign,
            input=self.make("crowd.Input", scope="tidy-news", content_key="item"),
            position=0,
            n_available=1,
        )
        item = self.make(
            "crowd.Item",
            campaign=evaluation.campaign,
            hit=hit,
            key="item",
            data={},
            content_key="item",
        )
        self.make(
            "leaderboard.JudgedItem",
            evaluation=evaluation,
            item=item,
            instance=self.instance,
        )
        self.make(
            "leaderboard.Score",
            submission=submission,
            evaluation=evaluation,
            criterion="right",
            **dict.fromkeys(("mean", "low", "high", "low_50", "high_50"), 50.0),
            n=4,
            n_workers=2,
            covers="instances",
            seed=1,
            ratings_sha256="0" * 64,
            signature="s",
        )

    def several(self, a, b, decided):
        asked = {"task": self.task, "requested_by": self.nina, "seed": 5}
        pair = {**asked, "a": a, "b": b, "criterion": "overall", "delta": 0.05}
        pair |= {"rule": "beta-mixture", "wave_size": 10, "max_pairs": 40}
        self.make("leaderboard.Comparison", pk=30, state="REQUESTED", **pair)
        self.make(
            "leaderboard.Comparison",
            pk=31,
            state="RUNNING",
            evaluation=self.evaluation(None, "comparison:31", "overall"),
            failure="No space.",
            n_attempts=1,
            **decided,
            **pair,
        )
        self.make(
            "leaderboard.Comparison",
            pk=32,
            state="DECIDED",
            better="A",
            evaluation=self.evaluation(None, "comparison:32", "overall"),
            finished_at=NOW,
            **decided,
            **pair,
        )
        both = {**asked, "criteria": ["right", "clear"], "n_instances": 3}
        waiting = self.make("leaderboard.JointEvaluation", pk=40, **both)
        done = self.make(
            "leaderboard.JointEvaluation",
            pk=41,
            state="SCORED",
            evaluation=self.evaluation(None, "joint:41", "right", apart=("clear",)),
            results={"criteria": {"right": {}}},
            finished_at=NOW,
            **decided,
            **both,
        )
        for joint in (waiting, done):
            for position, system in enumerate((b, a)):
                self.make(
                    "leaderboard.EvaluatedSystem",
                    joint=joint,
                    submission=system,
                    position=position,
                )


def facts():
    from crowd.models import Commitment
    from leaderboard.models import (
        Comparison,
        HumanEvaluation,
        JointEvaluation,
        JudgedItem,
        Score,
        Submission,
    )

    def told(evaluation):
        return {
            "strategy": evaluation.strategy,
            "state": evaluation.state,
            "design": evaluation.design,
            "n_instances": evaluation.n_instances,
            "asked_by": evaluation.requested_by.username,
            "decided_by": getattr(evaluation.decided_by, "username", None),
            "reason": evaluation.decision_reason,
            "cents": evaluation.approved_cents,
            "start_now": evaluation.start_now,
            "attempts": evaluation.n_attempts,
            "failure": [
                evaluation.failed_step,
                evaluation.failure,
                evaluation.failure_permanent,
            ],
            "finished": evaluation.finished_at is not None,
            "systems": [row.submission.system_name for row in evaluation.systems.all()],
            "campaigns": [
                [row.campaign.key, row.criterion, row.campaign.title]
                for row in evaluation.campaigns.all()
            ],
        }

    return {
        "submissions": {
            one.system_name: one.evaluation and told(one.evaluation)
            for one in Submission.objects.all()
        },
        "states": {one.system_name: one.state for one in Submission.objects.all()},
        "comparisons": {
            one.pk: [one.better, one.seed, told(one.evaluation)]
            for one in Comparison.objects.all()
        },
        "joint": {
            one.pk: [one.results, one.seed, told(one.evaluation)]
            for one in JointEvaluation.objects.all()
        },
        "commitments": sorted(Commitment.objects.values_list("key", "amount_cents")),
        "seeds": sorted(
            HumanEvaluation.objects.exclude(campaigns=None)
            .values_list("seed", flat=True)
            .distinct()
        ),
        "judged": JudgedItem.objects.get().evaluation.submission.system_name,
        "score": Score.objects.get().evaluation.submission.system_name,
        "people": get_user_model().objects.count(),
    }


if __name__ == "__main__":
    Before(migrate(BEFORE)).fill()
    migrate()
    sys.stdout.write(json.dumps(facts()))
