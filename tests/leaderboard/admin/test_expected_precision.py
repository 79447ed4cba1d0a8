"""The approve page says how precise the planned evaluation will be, and what more takes."""

import re

import numpy as np
import pytest

from leaderboard.evaluation.price import expected_precision
from leaderboard.models import BoardFit
from tests.factories import make_task

pytestmark = pytest.mark.django_db


def text_of(client, submission):
    page = client.get(f"/admin/leaderboard/submission/{submission.pk}/approve/")
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


@pytest.fixture
def large():
    return make_task("large", n_instances=1000, sample_size=800)


def fitted(task, worker, instance, residual, n_workers=40):
    BoardFit.objects.create(
        task=task,
        criteria={
            "overall": {
                "n": [800],
                "n_workers": [n_workers],
                "variances": {
                    "worker": worker,
                    "instance": instance,
                    "residual": residual,
                    "method": "REML",
                },
            }
        },
        inputs_sha256="0" * 64,
    )
    return expected_precision(task)


def test_before_there_are_ratings_it_is_the_worst_case(large, boss, waiting):
    found = expected_precision(large)
    assert not found.pilot
    # 3.46 points, as Genie's appendix has it for 800 ratings
    assert found.half_width == pytest.approx(98 / 800**0.5, abs=0.01)
    text = text_of(boss, waiting())
    assert "With 20 instances rated by 10 raters" in text
    assert "interval of a score is ± 21.9 points" in text
    assert "This is the worst case on the scale" in text


def test_the_boards_own_variances_are_the_pilot(large):
    found = fitted(large, worker=100.0, instance=100.0, residual=400.0)
    assert (found.pilot, found.n_ratings, found.n_workers) == (True, 800, 10)
    assert found.half_width == pytest.approx(1.96 * (10 + 500 / 800) ** 0.5, abs=0.01)
    assert found.aims[0].n_workers < found.aims[1].n_workers < found.aims[2].n_workers


def test_the_power_is_that_of_played_out_evaluations(large):
    found = fitted(large, worker=25.0, instance=100.0, residual=400.0)
    rng = np.random.default_rng(1)
    w, n = found.n_workers, found.n_instances
    sd = (2 * (25 / w + 400 / n)) ** 0.5
    gaps = found.difference + sd * rng.normal(size=20_000)
    assert found.power == pytest.approx((np.abs(gaps) > 1.96 * sd).mean(), abs=0.01)


def test_plans_reach_what_they_promise(large):
    found = fitted(large, worker=25.0, instance=50.0, residual=300.0)
    for aim, width in zip(found.aims[:3], (5, 3, 2), strict=True):
        n, each = aim.n_instances, aim.ratings_each
        variance = 25 / aim.n_workers + 50 / n + 300 / (n * each)
        assert 1.96 * variance**0.5 <= width + 0.01
        # 9 cents, and 10 % each of test questions, second answers and re-posting
        assert aim.cents == pytest.approx(n * each * 9 * 1.1**3, rel=0.01)
    power = found.aims[3]
    sd = (2 * (25 / power.n_workers + 300 / power.n_instances)) ** 0.5
    assert (1.96 + 0.8416) * sd == pytest.approx(5, rel=0.03)


def test_few_workers_are_no_pilot_and_magnitudes_have_no_points(large):
    assert not fitted(large, 100.0, 100.0, 400.0, n_workers=4).pilot
    large.config["human"]["scale"] = "magnitude"
    large.config["human"]["design"] = "rankme"
    assert expected_precision(large) is None


def test_ratings_without_any_variation_are_no_pilot(large):
    assert not fitted(large, 0.0, 0.0, 0.0).pilot


def test_the_page_has_a_table_and_says_what_is_out_of_reach(boss, waiting, task):
    fitted(task, worker=100.0, instance=100.0, residual=400.0)
    text = text_of(boss, waiting())
    assert "This is estimated from the 800 ratings on the task’s board." in text
    assert re.search(r"A 95% interval of ± 5 points \d+ \d+ \d+ \$\d", text)
    assert "A 95% interval of ± 2 points out of reach with the task’s" in text
