"""Groups of a new site, so that staff need not choose from hundreds of permissions.

They are created once, when the database is migrated; the site may change or delete
them. Being staff alone gives no permission.
"""

from typing import Any

from django.apps import AppConfig, apps

_RESULTS = (
    "leaderboard.view: task submission comparison jointevaluation humanevaluation score "
    "metricresult metricrun metricboard outsidemetric team judge judgerun judgebudget",
    "crowd.view: campaign hittype",
)
_WORK = ("crowd.view: hit assignment", "quality.view: grade verdict detectorfit")

# role -> permissions of its members, as `app.verb: models`
ROLES: dict[str, tuple[str, ...]] = {
    "Reviewer": _RESULTS,
    "Organiser": (
        *_RESULTS,
        *_WORK,
        "leaderboard.change: task submission comparison jointevaluation metricrun "
        "outsidemetric judgerun",
        "leaderboard.add: task comparison jointevaluation judge judgerun",
        "crowd.change: campaign externalcampaign",
        "crowd.view: externalcampaign outwardcall budget panelsource qualificationtest "
        "requirement",
        "crowd.add: invitation qualificationtest requirement",
        "quality.view: ban retiredquestion heldexclusion",
        "quality.add: ban",
        "quality.change: ban retiredquestion",
        "genie.view: privateread",
        "django_q.view: failure",
        "django_q.change: failure",
    ),
    "Worker manager": (
        *_WORK,
        "leaderboard.view: task",
        "crowd.view: campaign worker invitation message qualificationtest "
        "qualificationgrant testattempt requirement externalsession",
        "crowd.change: worker message qualificationtest qualificationgrant requirement",
        "crowd.add: invitation message qualificationtest qualificationgrant requirement",
        "crowd.delete: invitation",
        "quality.view: ban heldexclusion appeal retiredquestion",
        "quality.add: ban",
        "quality.change: ban appeal",
    ),
    "Finance": (
        "leaderboard.view: task judgebudget judgerun",
        "leaderboard.add: judgebudget",
        "leaderboard.change: judgebudget",
        "crowd.view: campaign budget commitment exchangerate ledgerentry payout "
        "payoutrun payoutterms requester requesterbonus",
        "crowd.add: budget exchangerate payoutrun payoutterms",
        "crowd.change: budget ledgerentry payoutrun payoutterms requesterbonus",
    ),
}


def permissions_of(role: str) -> list[str]:
    """Return a role's permissions as Django writes them (`app.verb_model`)."""
    names = []
    for line in ROLES[role]:
        verb, _, models = line.partition(": ")
        app, _, verb = verb.partition(".")
        names += [f"{app}.{verb}_{model}" for model in models.split()]
    return names


def make_groups(app_config: AppConfig, using: str, **_sent: Any) -> None:
    """Create the groups in a database without any, once all permissions exist."""
    # Django sends the signal for apps with models only.
    if app_config != [one for one in apps.get_app_configs() if one.models_module][-1]:
        return
    from django.contrib.auth.models import Group, Permission

    if Group.objects.using(using).exists():
        return
    keys = {
        f"{app}.{codename}": pk
        for pk, app, codename in Permission.objects.using(using).values_list(
            "pk", "content_type__app_label", "codename"
        )
    }
    for role in ROLES:
        group = Group.objects.using(using).create(name=role)
        group.permissions.set(keys[name] for name in permissions_of(role))
