"""Several systems side by side (RankME): a page shows all of them, or some."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.pricing import Quote
from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from
from leaderboard.evaluation import campaigns, machine, rescoring
from leaderboard.evaluation.expected import expected_magnitudes
from leaderboard.evaluation.models.human_evaluation import JointEvaluation
from leaderboard.evaluation.price import quote_side_by_side
from leaderboard.evaluation.services import items, joint, qualification
from leaderboard.evaluation.services.hidden import in_slots
from leaderboard.evaluation.services.hidden.drawn import before_launch, tests_of
from leaderboard.evaluation.services.items import (
    Entry,
    Part,
    campaign_title,
    instead_of,
)
from leaderboard.evaluation.services.joint_results import results_of, systems_of, write
from leaderboard.submissions import states
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Instance
from leaderboard.tasks.services import configuration
from leaderboard.tasks.services.inputs import SET_ASIDE
from quality.test_questions.services import Planned

State = states.State
Texts = dict[tuple[int, int], str]


class SideBySide:
    collect = staticmethod(campaigns.collect)

    def human(self, evaluation: JointEvaluation) -> HumanConfig:
        return joint.human_for(evaluation)

    def cost(self, evaluation: JointEvaluation) -> Quote:
        n, n_workers = evaluation.n_asked, evaluation.n_workers
        return quote_side_by_side(self.human(evaluation), n, n_workers)

    def n_workers(self, evaluation: JointEvaluation) -> int:
        return self.human(evaluation).n_workers_wanted

    def forecast(self, evaluation: JointEvaluation, cents: int) -> list[str]:
        return expected_magnitudes(evaluation, cents, self.n_workers(evaluation))

    def check_launch(self, evaluation: JointEvaluation) -> None:
        """Do nothing: the platform is checked for all strategies."""

    def keys(self, evaluation: JointEvaluation) -> list[str]:
        key = f"joint:{evaluation.pk}"
        return configuration.campaign_keys(key, self.human(evaluation))

    def end_early(self, evaluation: JointEvaluation) -> None:
        """Publish no result."""

    def launch(self, evaluation: JointEvaluation) -> None:
        qualification.ensure(evaluation.task)
        human, parts = self.human(evaluation), self.plan(evaluation)
        before_launch(evaluation, human, parts)
        with transaction.atomic():
            machine.hold(evaluation)
            campaigns.send_out(
                evaluation,
                human,
                parts,
                starts_at=timezone.now(),
                ratings_per_item=evaluation.n_workers,
            )
            machine.move(evaluation, State.ANNOTATING, n_instances=len(parts[0].judged))
            run.start_due()

    def plan(
        self, evaluation: JointEvaluation, used: Collection[str] = ()
    ) -> list[Part]:
        task, human = evaluation.task, self.human(evaluation)
        systems, n = systems_of(evaluation), evaluation.n_asked
        judged, others = joint.shared_instances(task, systems, n=n)
        if not judged:
            raise GenieError(
                "The systems have no instance in common.", code="nothing-to-compare"
            )
        n_tests = sum(human.n_test_questions(n))
        # Tests take the place of rated pages, so that no input tells them. With
        # documents or too few inputs, others rate what they show, too.
        whole = task.configuration.joint.page_by
        asked = judged if whole else [*judged, *others[: SET_ASIDE * n_tests]]
        spare = [row for row in asked if configuration.has_references(row)]
        order = generator(seed_from("tests", evaluation.seed)).permutation(len(spare))
        spare = [spare[int(at)] for at in order]
        # Before an output is read: tests need good ones, which must be rated as often.
        enough = len(asked) - len(judged) == SET_ASIDE * n_tests
        aside = spare[: SET_ASIDE * n_tests] if enough else []
        spare = aside or spare
        left = [row for row in asked if row not in aside]
        texts = _texts(systems, asked)
        together = partial(joint.shown_together, evaluation, systems)
        pages = together(len(judged), what="blocks")
        outputs = {
            row.pk: [(system.pk, texts[system.pk, row.pk]) for system in page]
            for row, page in zip(
                spare, together(len(spare), what="blocks of tests"), strict=True
            )
        }
        criteria_of, parts = human.separate(), []
        for criteria, key in zip(criteria_of, self.keys(evaluation), strict=True):
            seed = seed_from("campaign", key, evaluation.seed)
            about: dict[str, Any] = {"campaign_key": key, "seed": seed}
            draw = partial(
                _line_ups,
                (task, human, criteria, spare, outputs),
                systems=systems,
                campaign_key=key,
                n=n_tests,
                used=used,
            )
            tests = tests_of(evaluation, human, key, seed, draw, used)
            rated = instead_of(tests.items, task.slug, left, len(judged))
            specs = [
                items.judged_item(
                    task,
                    human,
                    row,
                    [Entry(texts[system.pk, row.pk], system.pk) for system in page],
                    **about,
                )
                for row, page in zip(rated, pages, strict=True)
            ]
            names = [system.system_name for system in systems]
            detail = next(iter(criteria)) if len(criteria_of) > 1 else ""
            title = campaign_title(task.title, names, detail=detail)
            parts.append(Part(key, title, criteria, seed, specs, tests, draw))
        return parts

    def score(self, evaluation: JointEvaluation) -> None:
        # Before the ratings are read: a simultaneous exclusion is later than this, and
        # the results count as outdated.
        read_at = timezone.now()
        results = results_of(evaluation)
        with transaction.atomic():
            machine.move(evaluation, State.SCORED, scored_at=read_at)
            write(evaluation, results)
        self.publish(evaluation)

    def publish(self, evaluation: JointEvaluation) -> None:
        # Changed exclusions change results once a day, with the task's scores:
        # `rescoring`.
        rescoring.settle(machine.rows().get(pk=evaluation.pk))


def _line_ups(of: tuple[Any, ...], seed: int, *, n: int, **about: Any) -> Planned:
    return Planned(in_slots.hidden_line_ups(*of, n=n, seed=seed, **about), n)


def _texts(systems: Sequence[Submission], instances: Sequence[Instance]) -> Texts:
    rows = Prediction.objects.filter(
        submission__in=systems, instance__in=instances
    ).values_list("submission_id", "instance_id", "text")
    return {(submission, instance): text for submission, instance, text in rows}
