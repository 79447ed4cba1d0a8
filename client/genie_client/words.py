"""Answers as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Line columns up with spaces."""
    everything = [list(header), *map(list, rows)]
    widths = [max(len(row[i]) for row in everything) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in everything
    )


def tasks(found: Sequence[Json]) -> str:
    return table(
        ["task", "instances", "accepts submissions", "title"],
        [
            [
                task["slug"],
                f"{task['n_instances']:,}",
                "yes" if task["accepts_submissions"] else "no",
                task["title"],
            ]
            for task in found
        ],
    )


def validation(found: Json) -> str:
    if found["valid"]:
        good = (
            f"Good: {found['n_predictions']:,} predictions for {found['task']} "
            f"({found['format']})."
        )
        noticed = [
            f"- warning: {warning['sentence']} ({warning['code']})"
            for warning in found["warnings"] or []
        ]
        return "\n".join([good, *noticed])
    lines = [f"Invalid for {found['task']}:"]
    for problem in found["problems"]:
        lines.append(f"- {problem['message']} ({problem['code']})")
        for example in problem["examples"][:5]:
            said = ", ".join(f"{k} {v}" for k, v in example.items() if v is not None)
            lines.append(f"    {said}")
    return "\n".join(lines)


def submission(found: Json) -> str:
    lines = [
        f"{found['id']}  {found['system_name']} on {found['task']}: {found['state']}"
    ]
    if found.get("html_url"):
        lines.append(f"  {found['html_url']}")
    if found.get("simulated"):
        lines.append("  simulated: not rated by people")
    for score in found["scores"]:
        lines.append(
            f"  {score['criterion']}: {score['mean']:.1f} "
            f"[{score['low']:.1f}, {score['high']:.1f}], {score['n']:,} instances"
            + (", provisional" if score.get("provisional") else "")
        )
    for name, metric in found["metrics"].items():
        lines.append(f"  {name}: {metric['value']:.2f}")
    for warning in found.get("warnings") or []:
        lines.append(f"  warning: {warning['sentence']} ({warning['code']})")
    for error in found.get("errors") or []:
        lines.append(f"  error: {error['message']}")
    failure = found.get("failure")
    if failure:
        lines.append(f"  failed: {failure['step']}: {failure['reason']}")
    return "\n".join(lines)


def mine(found: Sequence[Json]) -> str:
    if not found:
        return "No submissions yet."
    return table(
        ["id", "state", "task", "system", "page"],
        [
            [
                str(row["id"]),
                row["state"],
                row["task"],
                row["system_name"],
                row["html_url"],
            ]
            for row in found
        ],
    )


def person(found: Json) -> str:
    teams = ", ".join(
        f"{team['slug']} ({team['role'].lower()})" for team in found["teams"]
    )
    lines = [f"{found['username']}, teams: {teams or 'none'}"]
    token = found["token"]
    if token:
        until = str(token["expires_at"] or "")[:10] or "no end"
        lines.append(
            f"Token {token['name']}: {', '.join(token['scopes'])}; until {until}"
        )
    return "\n".join(lines)


def event(found: Json) -> str:
    return f"{str(found['at'])[:19]}  {found['state']}  {found.get('sentence') or ''}"


def leaderboard(rows: Sequence[Json]) -> str:
    if not rows:
        return "No systems yet."
    return table(
        ["rank", "system", "team", "score", "95% interval", "id"],
        [
            [
                rank(row),
                row["system"]
                + (" (simulated)" if row["simulated"] else "")
                + (f" ({row['partial']})" if row["partial"] else "")
                + (" (provisional)" if row["provisional"] else ""),
                row["team"] or "anonymous",
                "waits" if row["mean"] is None else f"{row['mean']:.1f}",
                "" if row["mean"] is None else f"[{row['low']:.1f}, {row['high']:.1f}]",
                str(row["submission"]),
            ]
            for row in rows
        ],
    )


def log_head(found: Json) -> str:
    return f"{found['size']:,} entries, root {found['root']}, {found['at']}"


def log_entry(found: Json) -> str:
    says = "sealed" if found["data"] is None else found["data"]
    return f"{found['number']}  {str(found['at'])[:19]}  {found['kind']}: {says}"


def rank(row: Json) -> str:
    if row["rank_first"] is None:
        return "-"
    one = row["rank_first"] == row["rank_last"]
    return f"{row['rank_first']}" if one else f"{row['rank_first']}-{row['rank_last']}"


def _pair(found: Json) -> list[str]:
    pair = found["pair"]
    if pair is None:
        return []
    told = "significantly better" if pair["significant"] else "not significantly better"
    return [
        f"  {pair['a']['system']} is {told} than {pair['b']['system']}: "
        f"P(better) = {100 * pair['p_above']:.0f}%, p = {pair['p_value']:.3f} by "
        "the board's rule.",
        f"  All pairs: {found['all_pairs']}",
    ]


def comparison(found: Json) -> str:
    lines = [f"{found['a']['system']} vs. {found['b']['system']} on {found['task']}"]
    for name, score in found["scores"].items():
        lines.append(
            f"  {name}: {score['a']['mean']:.1f} vs. {score['b']['mean']:.1f}, "
            f"difference {score['difference']:+.1f}"
        )
    for one in (found["a"], found["b"]):
        if not one["rated"]:
            lines.append(f"  {one['system']} has no human score yet.")
    if found["scores"]:
        covers = next(iter(found["scores"].values()))["a"]["covers"]
        lines.append(f"  95% intervals cover {covers}.")
    lines += _pair(found)
    for name, metric in found["metrics"].items():
        note = "" if metric["comparable"] else " (other settings: do not compare)"
        lines.append(f"  {name}: {metric['a']:.2f} vs. {metric['b']:.2f}{note}")
    return "\n".join(lines)
