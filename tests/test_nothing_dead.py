"""What the product's pages, jobs, API and commands cannot reach has no place in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reachable import Product

ROOT = Path(__file__).resolve().parent.parent
APPS = ["genie", "crowd", "quality", "leaderboard"]
# where requests, jobs and commands come in
ROOMS = {
    "urls", "wsgi", "asgi", "settings", "schedules", "apps", "checks", "jobs", "admin", "management",
    "models", "views", "pages", "hooks", "api", "worker_site", "templatetags",
}  # fmt: skip
ENTRIES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for app in APPS
    for path in sorted((ROOT / app).rglob("*.py"))
    if ROOMS & set(path.relative_to(ROOT / app).with_suffix("").parts)
]
PURE = [
    "quality.agreement",
    "quality.detection.stats",
    "leaderboard.stats",
    "leaderboard.metrics",
    "leaderboard.charts",
    "leaderboard.designs",
    "leaderboard.metric_board.charts",
    "leaderboard.metric_board.readers",
    "leaderboard.metric_board.stats",
    "leaderboard.submissions.preflight",
    "leaderboard.submissions.readers",
    "leaderboard.tasks.config",
    "leaderboard.tasks.readers",
    "crowd.scales",
    "crowd.pricing",
]

# Known to the library, and to be shown by pages or commands that are still to be made.
STILL_TO_BE_SHOWN = {
    "mixed models": [
        "leaderboard.stats.rater_effects: RaterAdjusted mixed_effects",
    ],
    "rank tests": [
        "leaderboard.stats.paired: PairedTest PairedBootstrap differences "
        "paired_bootstrap share_above_zero approximate_randomisation wilcoxon",
    ],
    "planners": [
        "leaderboard.stats.components: worst_case_components pilot_components",
        "leaderboard.stats.studies.plan_simulation: simulated_half_width simulated_means "
        "simulated_power",
        "leaderboard.stats.power: largest_sd_of_difference",
        "leaderboard.stats.prediction_powered: expected_width_ratio",
    ],
    "studies of designs": [
        "leaderboard.stats.studies.design_study: DesignResult study_designs",
        "leaderboard.stats.studies.label_table: LabelTable label_table average majority "
        "draw_estimates exact_sd",
    ],
    "false discoveries among workers": [
        "leaderboard.stats.multiplicity: benjamini_hochberg",
        "quality.detection.stats.decisions: PoolExpectation cost_threshold expectation "
        "control_false_discoveries threshold_table",
    ],
}


def still_to_be_shown() -> set[tuple[str, str]]:
    lines = [line for lines in STILL_TO_BE_SHOWN.values() for line in lines]
    split = [line.partition(": ") for line in lines]
    return {(module, name) for module, _, names in split for name in names.split()}


@pytest.fixture(scope="module")
def product():
    return Product(ROOT, APPS)


@pytest.fixture(scope="module")
def reached(product):
    return product.reached_from(ENTRIES)


@pytest.fixture(scope="module")
def public(product):
    """Give the public functions and classes of the pure rooms."""
    return {
        (module.name, name) for module in product.inside(PURE) for name in module.public
    }


def test_every_public_function_of_the_pure_rooms_is_used(public, reached):
    dead = public - reached - still_to_be_shown()
    assert sorted(dead) == [], "no page, job, API or command reaches them: delete them"


def test_what_is_shown_by_now_leaves_the_list(reached):
    assert sorted(still_to_be_shown() & reached) == []


def test_the_list_names_only_what_there_is(public):
    assert sorted(still_to_be_shown() - public) == []


def test_what_the_product_surely_uses_is_found(public, reached):
    assert len(public & reached) > 300
    assert ("leaderboard.stats.intervals", "bootstrap_mean") in reached
    # found by discovery, from a job named in a string, from a name in a module
    assert ("leaderboard.metrics.chrf", "ChrF") in reached
    assert ("leaderboard.jobs", "advance") in reached
    assert ("leaderboard.stats.ranking", "rank_ranges") in reached
