from collections.abc import Collection, Mapping

from leaderboard.evaluation.services.hidden.in_slots import hidden_pairs
from leaderboard.evaluation.services.hidden.offers import Planned
from leaderboard.evaluation.services.hidden.single import for_one_output
from leaderboard.submissions.models import Submission
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import design_of, instances_for_tests


def planned(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    submission: Submission | None,
    seed: int,
    *,
    campaign_key: str,
    n_items: int,
    used: Collection[str] = (),
) -> Planned:
    """Draw the test questions of one campaign of a submission.

    Without a submission, only the task's references and public outputs are used. `used`
    has the fingerprints of texts of the evaluation's other campaigns.
    """
    systems = [] if submission is None else [submission]
    if not design_of(task, human).in_slots():
        return for_one_output(
            task,
            human,
            criteria,
            systems,
            campaign_key=campaign_key,
            n_items=n_items,
            seed=seed,
            used=used,
        )
    n = sum(human.n_test_questions(n_items))
    instances = instances_for_tests(task, seed, n=n, inside=human.tests_inside_sample)
    items = hidden_pairs(
        task,
        human,
        criteria,
        instances,
        systems=systems,
        campaign_key=campaign_key,
        n=n,
        seed=seed,
        used=used,
    )
    return Planned(items, n)
