"""A simulated crowd works through the site's services, and nothing of it is kept."""

import numpy as np

from genie_research.crowds.campaign import CampaignPlan
from genie_research.crowds.people import CrowdPlan, draw_crowd
from genie_research.crowds.through_the_site import site_campaign
from leaderboard.models import Submission, Task


def test_a_crowd_rates_every_output_and_leaves_nothing_behind():
    rng = np.random.default_rng(1)
    crowd = draw_crowd(
        CrowdPlan(0.5, n_workers=4, n_systems=2, n_instances=8, n_questions=9), rng
    )
    found = site_campaign(crowd, CampaignPlan(share_tests=0.25), rng)
    rated = set(zip(found.system.tolist(), found.instance.tolist(), strict=True))
    assert rated == {(system, place) for system in range(2) for place in range(8)}
    assert 1 <= found.n_tests <= 4
    assert found.answered.sum() == len(found.value) + found.n_tests
    assert set(found.value.tolist()) <= {0, 0.25, 0.5, 0.75, 1}
    assert ((found.weight >= 0) & (found.weight <= 1)).all()
    assert found.noisy.tolist() == crowd.bad[found.worker].tolist()
    assert not Task.own.exists()
    assert not Submission.own.exists()
