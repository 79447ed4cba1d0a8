"""What careless people of many kinds leave in scores: the study and its command."""

from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from genie_research.crowds import kinds
from genie_research.crowds.campaign import CrowdPlan, draw_campaign
from genie_research.crowds.study import study_crowd


def drawn(plan, seed=1):
    rng = np.random.default_rng(seed)
    return draw_campaign(plan, rng, kinds.HONEST, kinds.BAD)


def test_a_campaign_is_drawn_as_planned():
    found = drawn(CrowdPlan(0.3, 60, 0.1, n_workers=20))
    assert (~found.honest).sum() == 8
    assert (np.bincount(found.tests.worker) == 6).all()
    assert (np.bincount(found.ratings.worker) == 54).all()
    item, worker = found.ratings.item, found.ratings.worker
    times = np.bincount(item)
    assert set(times[times > 0]) == {1, 2}
    assert 0.07 < (times == 2).sum() / (times > 0).sum() < 0.13
    assert len(np.unique(np.stack([item, worker]), axis=1).T) == len(item)


def test_a_bad_crowd_raises_the_alarm_and_an_honest_one_does_not():
    for bad, raised in ((0.6, 1), (0.0, 0)):
        plan = CrowdPlan(bad, 60)
        study = study_crowd(
            plan, n_campaigns=2, seed=5, honest=kinds.HONEST, bad=kinds.BAD
        )
        table = np.array(study.rows)
        assert (table[:, 5] == raised).all()
        assert (table[:, 4] > 0.85).all()
        assert not any(out for kind in kinds.HONEST for _, out in study.by_kind[kind])
        if bad:
            assert (table[:, 0] < table[:, 2]).all()


@pytest.mark.slow
def test_kinds_of_a_file_take_the_place_of_ours(tmp_path):
    file = tmp_path / "kinds.py"
    file.write_text(
        "import numpy as np\n"
        "def top(rng, work):\n"
        "    return np.ones(len(work.test)), np.ones(len(work.test))\n"
        "BAD = {'always the top': top}\n"
    )
    words = ("--campaigns=2", "--bad=.3", "--answers=20", "--workers=12")
    out = StringIO()
    call_command("simulate_crowd", *words, f"--kinds={file}", stdout=out)
    assert "always the top" in out.getvalue()
    assert "constant" not in out.getvalue()
