"""A board as records of Every Eval Ever, a shared format of evaluation results.

References
----------
EvalEval Coalition, github.com/evaleval/every_eval_ever, eval.schema.json 0.2.2 (commit
21b3d1ab of 2026): one record a model; details are strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from leaderboard.boards.exports.table import BoardTable
from leaderboard.boards.selectors.rows import Human, Row
from leaderboard.metric_runs.selectors.labels import metric_words

SCHEMA_VERSION = "0.2.2"
_CONFIDENCE = 0.95
_ABOUT = ("organization", "weights", "parameters", "licence", "baseline")

About = Mapping[str, str]


def as_records(
    table: BoardTable,
    about: Mapping[int, About],
    *,
    retrieved: datetime,
    site: str,
    version: str,
) -> list[dict[str, Any]]:
    """Give a record for each system of which there is a score or a metric.

    Parameters
    ----------
    table : BoardTable
        What everybody may see.
    about : mapping of int to mapping
        What submitters say of their systems, by submission.
    retrieved : datetime
        When the board last changed, so that the same board gives the same records.
    site, version : str
        Address of the site that ran the evaluation, and of its code.
    """
    records = (
        _record(table, row, about.get(row.pk, {}), retrieved, site, version)
        for row in table.rows
    )
    return [record for record in records if record["evaluation_results"]]


def _record(
    table: BoardTable,
    row: Row,
    about: About,
    retrieved: datetime,
    site: str,
    version: str,
) -> dict[str, Any]:
    model = _model(row, about)
    stamp = f"{retrieved.timestamp():.0f}"
    results = [
        _human(table, row.criteria[name], name)
        for name in table.criteria
        if row.human and name in row.criteria
    ]
    results += [
        _metric(table, name, row.metrics[name])
        for name in table.metrics
        # a metric without a better end cannot say which is better
        if name in row.metrics and metric_words(name).arrow
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{table.task.slug}/{model['id']}/{row.pk}/{stamp}",
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": table.task.title,
            "source_type": "evaluation_run",
            "source_organization_name": site.split("://")[-1],
            "source_organization_url": site,
            # who asked people is not this site
            "evaluator_relationship": "other" if table.note else "third_party",
            "additional_details": _details(table, row),
        },
        "eval_library": {"name": "genie", "version": version},
        "model_info": model,
        "evaluation_results": results,
    }


def _model(row: Row, about: About) -> dict[str, Any]:
    # who anonymous systems are from is nobody's to know
    shown = {key: about[key] for key in _ABOUT if row.team and about.get(key)}
    developer = shown.get("organization") or (row.team.name if row.team else "")
    return {
        "name": row.system,
        "id": f"{row.team.slug if row.team else 'anonymous'}/{row.system}",
        **({"developer": developer} if developer else {}),
        **({"additional_details": shown} if shown else {}),
    }


def _details(table: BoardTable, row: Row) -> dict[str, str]:
    details = {"submission": table.page.format(row.pk), "board": table.address}
    if row.simulated:
        details["simulated"] = "rated by simulated annotators, not by people"
    if table.note:
        details["imported"] = table.note
    if row.rank_first is not None:
        details["ranks"] = f"{row.rank_first} to {row.rank_last}"
    if row.partial:
        details["partial"] = str(row.partial)
    return details


def _human(table: BoardTable, human: Human, criterion: str) -> dict[str, Any]:
    question = table.task.human.criteria.get(criterion, criterion)
    return {
        "evaluation_result_id": f"human.{criterion}",
        "evaluation_name": table.task.title,
        "source_data": _source(table),
        "metric_config": {
            "evaluation_description": f"People were asked: {question}",
            "metric_id": f"genie.human.{criterion}",
            "metric_name": criterion,
            "metric_kind": "human_rating",
            "lower_is_better": False,
        },
        "score_details": {
            "score": human.mean,
            "uncertainty": {
                "confidence_interval": {
                    "lower": human.low,
                    "upper": human.high,
                    "confidence_level": _CONFIDENCE,
                },
                "num_samples": human.n,
            },
            "details": {
                "covers": human.covers,
                "signature": human.signature,
                "workers": str(human.n_workers),
                "instances": f"{human.n} of {human.of}",
                "provisional": "yes" if human.provisional else "no",
            },
        },
    }


def _metric(table: BoardTable, slug: str, value: float) -> dict[str, Any]:
    words = metric_words(slug)
    return {
        "evaluation_result_id": f"metric.{slug}",
        "evaluation_name": table.task.title,
        "source_data": _source(table),
        "metric_config": {
            "evaluation_description": words.sentence,
            "metric_id": slug,
            "metric_name": words.label,
            "lower_is_better": words.arrow == "↓",
        },
        "score_details": {"score": value},
    }


def _source(table: BoardTable) -> dict[str, Any]:
    return {
        "dataset_name": table.task.title,
        "source_type": "url",
        "url": [table.address],
    }
