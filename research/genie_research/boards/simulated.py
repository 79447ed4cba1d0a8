"""Studies of crowds as sheets and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from genie_research.boards.crowd_simulation import CrowdResult, Share
from genie_research.boards.half_crowds import HalfCrowds
from leaderboard.table_stats.report import Sheet


def crowd_sheet(results: Sequence[CrowdResult], *, cents: float) -> Sheet:
    tasks = sorted({result.n_tasks for result in results})
    notes = (
        "Coverage of the nominal 95% interval of the mean over all workers and "
        "instances; false: pairs of equal systems found different at 5%, each pair by "
        "itself; RMSE: root mean squared error as a multiple of the plain mean's. This "
        "crowd: the plain mean, its interval over instances, a paired test over "
        "instances. ± gives the Monte-Carlo standard error.",
    )
    days = any(one.crowd.n_days > 1 for one in results)
    rows = tuple(
        (
            str(one.crowd.n_workers),
            f"{one.crowd.bias_sd:g}",
            str(one.crowd.n_instances),
            "same" if one.crowd.same else "fresh",
            *((str(one.crowd.n_days), f"{one.crowd.day_sd:g}") if days else ()),
            _percent(one.coverage),
            _percent(one.coverage_crowd),
            _percent(one.separated),
            _percent(one.separated_crowd),
            f"{one.bias.value:.2f} ± {one.bias.error:.2f}",
            f"{one.rmse_ratio.value:.3f} ± {one.rmse_ratio.error:.3f}",
            f"{one.half_width:.2f}",
            f"{one.half_width_crowd:.2f}",
            f"${one.n_ratings * cents / 100:,.0f}",
        )
        for one in results
    )
    header = (
        "workers", "bias sd", "instances", "crowd", *(("days", "day sd") if days else ()),
        "coverage %", "this crowd",
        "false %", "this crowd", "bias", "RMSE", "half-width", "this crowd", "cost",
    )  # fmt: skip
    title = f"Simulated crowds, {' or '.join(map(str, tasks))} tasks a cell"
    return Sheet(title, header, rows, notes)


def crowd_document(results: Sequence[CrowdResult], seed: int) -> dict[str, Any]:
    return {"seed": seed, "cells": [asdict(one) for one in results]}


def halves_sheet(found: Sequence[tuple[str, HalfCrowds]]) -> Sheet:
    rows = tuple(
        (
            name,
            _percent(Share(one.systems, one.systems_error)),
            _percent(Share(one.pairs, one.pairs_error)),
            *(
                f"{100 * share:.1f}"
                for share in (
                    one.systems_total,
                    one.pairs_total,
                    one.systems_plain,
                    one.pairs_plain,
                )
            ),
            f"{one.half_width:.3g}",
            f"{one.half_width_clustered:.3g}",
            f"{one.width_ratio:.2f}",
            f"{one.least_ratio:.2f}",
        )
        for name, one in found
    )
    splits = sorted({one.n_splits for _, one in found})
    header = (
        "crowd", "systems %", "pairs %", "systems, total", "pairs, total",
        "systems, plain", "pairs, plain", "half-width", "clustered", "ratio", "least",
    )  # fmt: skip
    notes = (
        "Share of differences between two random halves of the workers that lie within "
        "their 95% interval. Halves rated the same instances, so the first two columns "
        "leave the part of instances out; total: with it; plain: means with intervals "
        "over instances. Half-widths are of the whole crowd: the estimate's, and the "
        "plain mean's clustered by worker and instance. Least: the ratio that no unbiased "
        "estimate can go below, as workers differ in strictness. ± gives the "
        "Monte-Carlo standard error.",
    )
    title = f"Halves of real crowds, {' or '.join(map(str, splits))} splits"
    return Sheet(title, header, rows, notes)


def halves_document(
    found: Sequence[tuple[str, HalfCrowds]], seed: int
) -> dict[str, Any]:
    crowds = [
        {
            "crowd": name,
            **asdict(one),
            "width_ratio": one.width_ratio,
            "least_ratio": one.least_ratio,
        }
        for name, one in found
    ]
    return {"seed": seed, "crowds": crowds}


def _percent(share: Share) -> str:
    return f"{100 * share.value:.1f} ± {100 * share.error:.1f}"
