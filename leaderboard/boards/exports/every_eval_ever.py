"""A board as records of Every Eval Ever, a shared format of evaluation results.

References
----------
EvalEval Coalition, github.com/evaleval/every_eval_ever, eval.schema.json of the package
every-eval-ever 0.3.0: one record a model; details are strings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from leaderboard.boards.exports.people import human_scoring
from leaderboard.boards.exports.table import BoardTable
from leaderboard.boards.selectors.certainty import Agreement
from leaderboard.boards.selectors.judged import Raters
from leaderboard.boards.selectors.rows import Row
from leaderboard.metric_runs.selectors import metric_words
from leaderboard.submissions.models import Submission, detail_names

SCHEMA_VERSION = "0.3.0"
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Source:
    """The origin of records, and the evidence behind people's scores.

    `retrieved` is when the board last changed, so that the same board gives the same
    records. `raters` are by submission; empty for a board of a past moment.
    """

    retrieved: datetime
    site: str
    version: str
    raters: Mapping[int, Raters]
    agreement: Mapping[str, Agreement]


def as_records(table: BoardTable, source: Source) -> list[dict[str, Any]]:
    """Return a record for each public system with a score or a metric."""
    said = Submission.objects.only(*detail_names(), "baseline").in_bulk(
        [row.pk for row in table.rows]
    )
    records = (_record(table, row, source, said[row.pk]) for row in table.rows)
    return [record for record in records if record["evaluation_results"]]


def _record(
    table: BoardTable, row: Row, source: Source, said: Submission
) -> dict[str, Any]:
    model = _model(row, said)
    stamp = f"{source.retrieved.timestamp():.0f}"
    results = [
        _human(table, row, name, source)
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
            "source_organization_name": source.site.split("://")[-1],
            "source_organization_url": source.site,
            # imported: this site did not ask people
            "evaluator_relationship": "other" if table.note else "third_party",
            "additional_details": _details(table, row),
        },
        "eval_library": {"name": "genie", "version": source.version},
        "model_info": model,
        "evaluation_results": results,
    }


def _model(row: Row, said: Submission) -> dict[str, Any]:
    # the teams of anonymous systems are not disclosed
    about = (*detail_names(), "baseline") if row.team else ()
    shown = {key: text for key in about if (text := getattr(said, key))}
    # submitters are not asked how a system was run
    weights = f"{shown['weights']}_weights" if "weights" in shown else "unknown"
    demanded = {"deployment_type": "unknown", "model_availability": weights}
    developer = shown.get("organization") or (row.team.name if row.team else "")
    return {
        "name": row.system,
        "id": f"{row.team.slug if row.team else 'anonymous'}/{row.system}",
        **({"developer": developer} if developer else {}),
        "additional_details": {**shown, **demanded},
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


def _human(
    table: BoardTable, row: Row, criterion: str, source: Source
) -> dict[str, Any]:
    human, raters = row.criteria[criterion], source.raters.get(row.pk)
    people = raters and human_scoring(
        raters,
        human,
        criterion,
        source.agreement.get(criterion),
        simulated=row.simulated,
        imported=bool(table.note),
    )
    question = table.task.human.criteria.get(criterion, criterion)
    return {
        "evaluation_result_id": f"human.{criterion}",
        "evaluation_name": table.task.title,
        "source_data": _source(table),
        "metric_config": {
            "evaluation_description": f"Question to raters: {question}",
            "metric_id": f"genie.human.{criterion}",
            "metric_name": criterion,
            "metric_kind": "human_rating",
            "lower_is_better": False,
            **({"human_scoring": people} if people else {}),
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
                "raters": table.task.human.population.label,
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
