"""Systems one by one: workers rate a fixed sample of outputs, which gives scores."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from django.db import transaction
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.campaigns.services.run import reopen as reopen_campaign
from crowd.hits.models import Campaign
from crowd.hits.selectors import BY, PREFILLED
from crowd.pricing import Quote
from genie.lib.errors import GenieError
from genie.lib.runner import LostRace
from genie.lib.unguessable import seed_for
from leaderboard.charts import sentence
from leaderboard.designs.base import Design, content_key
from leaderboard.evaluation import campaigns, machine, rescoring
from leaderboard.evaluation.campaigns import asks_again, can_close, close_campaigns
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.price import quote_of
from leaderboard.evaluation.selectors.ranked_scores import anchor_for
from leaderboard.evaluation.selectors.unsettled import with_lost_ratings
from leaderboard.evaluation.services import items, qualification, refit, score
from leaderboard.evaluation.services.hidden.drawn import (
    before_launch,
    plan_test_questions,
    tests_of,
)
from leaderboard.evaluation.services.items import (
    Entry,
    Part,
    Specified,
    anchor_specs,
    campaign_title,
    instead_of,
)
from leaderboard.evaluation.services.public_log import publish_submission
from leaderboard.submissions import states
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.submissions.services import lifecycle
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.config.human import REFERENCES
from leaderboard.tasks.services import configuration
from leaderboard.tasks.services.inputs import SET_ASIDE, asked_instances, set_aside

# Marks submitted with a system's outputs, shown on the pages that ask about it.
#
# Test questions have them as well, or their absence would reveal them: a text keeps the
# marks in the beginning and the end that it shares with the system's own output.
Span = Mapping[str, Any]


S = TypeVar("S", bound=Specified)


class Brought:
    def __init__(self, submission: Submission) -> None:
        rows = Prediction.objects.filter(submission=submission, spans__isnull=False)
        slug = submission.task.slug
        self._of: dict[str, tuple[str, list[Span]]] = {}
        self._by = ""
        for name, text, marks in rows.order_by("pk").values_list(
            "instance__instance_id", "text", "spans"
        ):
            brought: dict[str, Any] = marks or {}
            self._of[content_key(slug, name)] = (text, brought["spans"])
            self._by = self._by or brought["by"]

    def into(self, items: Sequence[S]) -> list[S]:
        if not self._of:
            return list(items)
        return [self._into(item) for item in items]

    def _into(self, item: S) -> S:
        spec = item.spec
        text, spans = self._of.get(spec.content_key, ("", []))
        marks = carry_spans(spans, text, str(spec.data.get("prediction", "")))
        data = {**spec.data, PREFILLED: marks, BY: self._by}
        changed: S = replace(item, spec=replace(spec, data=data))  # type: ignore[type-var]
        return changed


def carry_spans(spans: Sequence[Span], old: str, new: str) -> list[Span]:
    """Return the marks of `old` within the prefix and suffix shared with `new`.

    Spans have ``start`` and ``end`` in characters, or ``missing``, which stay.

    Examples
    --------
    >>> marks = [{"start": 0, "end": 3}, {"start": 4, "end": 7}, {"start": 8, "end": 11}]
    >>> carry_spans(marks, "One two six", "One three six")
    [{'start': 0, 'end': 3}, {'start': 10, 'end': 13}]
    """
    if old == new:
        return list(spans)
    before = _alike(old, new)
    after = min(_alike(old[::-1], new[::-1]), min(len(old), len(new)) - before)
    moved = len(new) - len(old)
    kept = []
    for span in spans:
        if "start" not in span or span["end"] <= before:
            kept.append(span)
        elif span["start"] >= len(old) - after:
            kept.append(
                {**span, "start": span["start"] + moved, "end": span["end"] + moved}
            )
    return kept


def _alike(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


State = states.State


class SingleSystem:
    collect = staticmethod(campaigns.collect)

    def human(self, evaluation: HumanEvaluation) -> HumanConfig:
        return evaluation.task.human

    def cost(self, evaluation: HumanEvaluation) -> Quote:
        return quote_of(evaluation)

    def n_workers(self, evaluation: HumanEvaluation) -> int:
        return evaluation.task.human.n_workers_wanted

    def forecast(self, evaluation: HumanEvaluation, cents: int) -> list[str]:
        return []  # the page of its approval has the precision

    def check_launch(self, evaluation: HumanEvaluation) -> None:
        task = evaluation.task
        design = configuration.design_of(task, task.human)
        n_tests = sum(task.human.n_test_questions(task.sample_size))
        bare = [
            instance
            for instance in asked_instances(task, SET_ASIDE * n_tests)
            if not configuration.has_references(instance)
        ]
        if design.needs_reference and bare:
            raise GenieError(
                f"{len(bare):,} of the instances to be rated have no reference, "
                f"which the design {design.slug} shows to workers.",
                code="no-references",
            )
        # Two, because a wrong text is another instance's reference.
        if n_tests and task.instances.exclude(references=[]).count() < 2:
            raise GenieError(
                f"{task.title} has no references to make test questions from; load them "
                "(they can be hidden) or set positive_share and negative_share to 0 in "
                "its task.toml.",
                code="no-references",
            )

    def keys(self, evaluation: HumanEvaluation) -> list[str]:
        return [
            key
            for system in evaluation.alone
            for key in configuration.campaign_keys(
                configuration.commitment_key(system.pk), evaluation.task.human
            )
        ]

    def end_early(self, evaluation: HumanEvaluation) -> None:
        """Keep the answers: staff may publish the partial result later."""

    def launch(self, evaluation: HumanEvaluation) -> None:
        task, human = evaluation.task, evaluation.task.human
        items.refuse_several(task, configuration.design_of(task, human))
        qualification.ensure(task)
        parts = self.plan(evaluation)
        before_launch(evaluation, human, parts)
        begins_at = configuration.starts_at(evaluation.task, now=evaluation.start_now)
        who = "simulated annotators" if evaluation.simulated else "workers"
        n = len(parts[0].judged)
        with transaction.atomic():
            machine.hold(evaluation)
            _hold_systems(evaluation)
            campaigns.send_out(
                evaluation,
                human,
                parts,
                starts_at=begins_at,
                ratings_per_item=human.ratings_per_instance,
            )
            machine.move(
                evaluation,
                State.ANNOTATING,
                f"{n:,} outputs will be rated by {who}, starting on "
                f"{begins_at:%Y-%m-%d at %H:%M} UTC.",
                design=human.design,
                n_instances=n,
            )
            run.start_due()

    def plan(
        self, evaluation: HumanEvaluation, used: Collection[str] = ()
    ) -> list[Part]:
        """Plan one campaign for each system, or one for each criterion (setup 2)."""
        parts: list[Part] = []
        for one in evaluation.parts:
            parts += _plan(one, {*used, *_texts(parts)})
        return parts

    def score(self, evaluation: HumanEvaluation) -> None:
        # Before the ratings are read: a simultaneous exclusion is later than this, and
        # the scores count as outdated.
        read_at = timezone.now()
        scores_of = [(part, score.compute_scores(part)) for part in evaluation.parts]
        with transaction.atomic():
            # First, because a system that has just left took its ratings along.
            _hold_systems(evaluation)
            for part, scores in scores_of:
                if not scores:
                    raise GenieError(
                        "There are no valid ratings"
                        + f" of {part.submission}" * (len(part.alone) > 1)
                        + ", so there is no "
                        "score. Staff can lift a ban and try again, or withdraw the "
                        "submission.",
                        code="no-ratings",
                    )
                score.write(part, scores)
        # estimated beside the public board, before the scores are public
        for system in evaluation.alone:
            refit.refit(evaluation.task, system)
        with transaction.atomic():
            machine.move(evaluation, State.SCORED, scored_at=read_at)
            _hold_systems(evaluation)
            for part, scores in scores_of:
                # The first criterion is the one that ranks.
                first = part.current_scores.get(criterion=scores[0].criterion)
                lifecycle.tell(
                    part.submission.pk,
                    State.SCORED,
                    f"Scored {sentence(first)}, from {first.n:,} instances.",
                )

    def publish(self, evaluation: HumanEvaluation) -> None:
        new = [
            one
            for one in evaluation.alone
            if not (one.published_at or one.is_withdrawn)
        ]
        if new:
            with transaction.atomic():
                if not sum(publish_submission(one.pk) for one in new):
                    return
                # A worker may have been banned while the scores were computed.
                _reopen(evaluation)
            refit.refit_board(evaluation.task, hold=True)
        else:
            _watch_replacements(evaluation)
            if with_lost_ratings([evaluation.pk]):
                _reopen(evaluation)
        rescoring.settle(machine.rows().get(pk=evaluation.pk), just_published=bool(new))


def _hold_systems(evaluation: HumanEvaluation) -> None:
    """Raise LostRace if a system was withdrawn, which locks the evaluation, meanwhile."""
    if machine.lock(evaluation.pk).alone != evaluation.alone:
        raise LostRace


def _texts(parts: Sequence[Part]) -> set[str]:
    return {test.text_sha256 for part in parts for test in part.hidden}


def _plan(evaluation: HumanEvaluation, used: Collection[str]) -> list[Part]:
    task, human, submission = (
        evaluation.task,
        evaluation.task.human,
        evaluation.submission,
    )
    design = configuration.design_of(task, human)
    brought = Brought(submission)
    criteria_of = human.separate()
    parts: list[Part] = []
    # Only approved ones: the price does not include later anchors.
    affordable = quote_of(evaluation).total_cents <= (evaluation.approved_cents or 0)
    anchor = anchor_for(evaluation) if affordable else None
    keys = configuration.campaign_keys(
        configuration.commitment_key(submission.pk), human
    )
    for criteria, key in zip(criteria_of, keys, strict=True):
        # Made with the site's secret: the seed would reveal the test questions.
        seed = seed_for("campaign", key)
        about: dict[str, Any] = {"campaign_key": key, "seed": seed}
        draw = partial(
            plan_test_questions,
            task,
            human,
            criteria,
            submission,
            campaign_key=key,
            n_items=task.sample_size,
            used={*used, *_texts(parts)},
        )
        drawn = tests_of(evaluation, human, key, seed, draw, used)
        tests = replace(drawn, items=brought.into(drawn.items))
        detail = next(iter(criteria)) if len(criteria_of) > 1 else ""
        title = campaign_title(task.title, [submission.system_name], detail=detail)
        beside = anchor_specs(task, human, anchor, hidden=tests.items, **about)
        judged = [
            items.judged_item(task, human, row.instance, _entries(row, design), **about)
            for row in rated_outputs(submission, human, seed, tests.items, beside)
        ]
        judged, beside = brought.into(judged), brought.into(beside)
        items_of = (judged, tests, draw, beside)
        parts.append(Part(key, title, criteria, seed, *items_of, submission=submission))
    return parts


def rated_outputs(
    submission: Submission,
    human: HumanConfig,
    seed: int,
    tests: Sequence[Specified] = (),
    beside: Sequence[Specified] = (),
) -> list[Prediction]:
    """Return a system's rated outputs by rank: none of an input set aside for tests.

    Nor of one that an item `beside` them shows. Of a small task, inputs that were set
    aside and became no test are rated before one comes twice.
    """
    task, n = submission.task, 0
    if human.test_questions != REFERENCES:
        n = sum(human.n_test_questions(task.sample_size))
    rows = asked_instances(task, SET_ASIDE * n + (len(beside) if n else 0))
    aside = {row.pk for row in set_aside(task, seed, n)}
    of_tests = {test.spec.content_key for test in tests}
    left = [row for row in rows if row.pk not in aside]
    left += [
        row
        for row in rows
        if row.pk in aside and content_key(task.slug, row.instance_id) not in of_tests
    ]
    rated = instead_of(beside, task.slug, left, task.sample_size) if n else rows
    outputs = Prediction.objects.filter(submission=submission, instance__in=rated)
    return list(outputs.select_related("instance").order_by("instance__sample_rank"))


def _entries(row: Prediction, design: Design) -> list[Entry]:
    output = Entry(row.text, row.submission_id)
    references = row.instance.references[: design.references_among]
    return [output, *(Entry(text, None) for text in references)]


def _reopen(evaluation: HumanEvaluation) -> None:
    looked_at = timezone.now()
    try:
        with transaction.atomic():
            now = machine.lock(evaluation.pk)
            if not rescoring.can_be_read(now):
                return
            for part in now.parts:
                n = sum(reopen_campaign(c.pk) for c in part.campaigns_in_order)
                if n:
                    lifecycle.tell(
                        part.submission.pk,
                        part.submission.state,
                        f"{n:,} ratings by workers excluded later are being "
                        "collected again; the score will be updated.",
                    )
    except GenieError as error:
        Campaign.objects.filter(pk=evaluation.campaign.pk).update(
            notice=f"Excluded ratings were not collected again: {error.message}"[:300]
        )
    # Once for each loss: without money, the next attempt needs a new reason.
    HumanEvaluation.objects.filter(pk=evaluation.pk).update(asked_again_at=looked_at)


def _watch_replacements(evaluation: HumanEvaluation) -> None:
    pks = [campaign.pk for campaign in evaluation.campaigns_in_order]
    asks = list(Campaign.objects.filter(asks_again(), pk__in=pks))
    if not asks or not rescoring.can_be_read(evaluation):
        return
    campaigns.grade_and_judge(evaluation.task, asks)
    if not can_close(asks):
        return
    campaigns.grade_and_judge(evaluation.task, asks, complete=True)
    with transaction.atomic():
        machine.lock(evaluation.pk)
        close_campaigns(asks)
