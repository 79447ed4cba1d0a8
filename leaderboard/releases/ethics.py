"""Facts about a task for ethics boards: protocol, consent, pay, participants."""

from django.conf import settings
from django.db.models import Count

from crowd.hits.models import Assignment, Campaign
from crowd.workers.models.worker import Consent, ConsentVersion
from leaderboard.evaluation.selectors.worker_figures import WorkerFigures
from leaderboard.releases.selectors.heds import OPEN, QUESTIONS
from quality.appeals.models import Appeal

_SIMULATED = (
    "- The raters were simulated annotators (programs) and were not paid. The amounts "
    "are simulated."
)


def ethics_sheet(
    title: str,
    protocol: str,
    campaigns: list[Campaign],
    figures: WorkerFigures,
    *,
    simulated: bool,
) -> str:
    pools = {campaign.pool_id for campaign in campaigns}
    floor = int(settings.GENIE["MINIMUM_HOURLY_CENTS"]) / 100
    hourly = (
        "not known yet"
        if figures.hourly_cents is None
        else f"${figures.hourly_cents / 100:.2f}"
    )
    lines = [
        f"# {title}: for an ethics board",
        "",
        "## Protocol",
        "",
        protocol,
        "",
        "## Pay",
        "",
        *(
            ["- Raters were not paid."]
            if not (simulated or figures.highest_reward_cents)
            else [
                *([_SIMULATED] if simulated else []),
                f"- for an assignment: ${figures.reward_cents / 100:.2f}",
                f"- an hour at the median pace: {hourly} (the site's minimum is ${floor:.2f})",
                f"- {'simulated pay' if simulated else 'paid to workers'}: "
                f"${figures.paid_cents / 100:,.2f}",
                *(
                    []
                    if simulated
                    else [
                        "- Submitted work is paid unless it was rejected (below), "
                        "even if the worker is excluded from the results."
                    ]
                ),
            ]
        ),
        "",
        "## Who took part",
        "",
        *_counts(campaigns, pools, figures),
        "",
        "## Consent",
        "",
        *_consents(pools),
        "## Risks",
        "",
        # only the authors know: approval, personal data, risks
        *(
            f"- {QUESTIONS[number]}: {OPEN}"
            for number in ("5.1", "5.2", "5.3", "5.4")
            if number in QUESTIONS
        ),
        "",
    ]
    return "\n".join(lines)


def _counts(
    campaigns: list[Campaign], pools: set[str], figures: WorkerFigures
) -> list[str]:
    if not figures.highest_reward_cents:
        return [
            f"- raters: {figures.n_workers:,}, of whom {figures.n_excluded:,} excluded"
        ]
    states = dict(
        Assignment.objects.filter(hit__campaign__in=campaigns)
        .order_by()
        .values_list("state")
        .annotate(n=Count("pk"))
    )
    appeals = Appeal.objects.filter(pool__in=pools)
    return [
        f"- workers: {figures.n_workers:,}, of whom {figures.n_excluded:,} excluded",
        *(
            f"- assignments {state.label}: {states.get(state.value, 0):,}"
            for state in Assignment.State
        ),
        f"- appeals: {appeals.count():,}, "
        f"of which granted: {appeals.filter(state=Appeal.State.GRANTED).count():,}",
    ]


def _consents(pools: set[str]) -> list[str]:
    given = dict(
        Consent.objects.filter(pool__in=pools)
        .order_by()
        .values_list("text_sha256")
        .annotate(n=Count("worker", distinct=True))
    )
    lines = []
    for version in ConsentVersion.objects.filter(sha256__in=given):
        lines += [
            f"{_workers(given.pop(version.sha256))} agreed to this text "
            f"(first on {version.first_given_at:%Y-%m-%d}):",
            "",
            version.html,
            "",
        ]
    lines += [
        f"{_workers(n)} agreed to a text of which only the hash was stored: {sha256}\n"
        for sha256, n in given.items()
    ]
    return lines or ["There is no recorded consent yet.", ""]


def _workers(n: int) -> str:
    return "1 worker" if n == 1 else f"{n:,} workers"
