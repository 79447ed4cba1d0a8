from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields


@dataclass(frozen=True)
class Choice:
    key: str
    text: str


@dataclass(frozen=True)
class FormQuestion:
    """One question of a qualification test; `right` holds the keys of right answers."""

    key: str
    text: str
    choices: Sequence[Choice]
    right: Sequence[str]


@dataclass(frozen=True)
class QualifyingTest:
    name: str
    introduction: str
    pass_percent: int
    questions: Sequence[FormQuestion]
    seconds: int = 3600
    # None: one try only
    retry_seconds: int | None = None


@dataclass(frozen=True)
class Requirements:
    minimum_approved: int = 0
    minimum_percent_approved: int = 0
    countries: Sequence[str] = ()
    masters: bool = False
    tests: Sequence[QualifyingTest] = ()
    # by their English names
    languages: Sequence[str] = ()


@dataclass(frozen=True)
class StudyTerms:
    """Terms of a study on a platform; defaults demand nothing.

    Parameters
    ----------
    groups, without_groups : sequence of str
        Ids of the platform's own groups of people: only theirs, none of theirs.
    ai_taskers : bool
        Only people whom the platform has tested for work on AI.
    visits : int
        How often one person may take part.
    content_warning, content_warning_details : str
        ``sensitive`` or ``explicit``, and its text for people.
    screen_out_cents, screen_out_places : int
        Pay of a person for whom there is no work, and for how many at most.
    quotas : mapping
        Country to its share of the participants.
    early_percent : int
        Maximal share of planned answers paid to people who end a visit early.
    """

    groups: Sequence[str] = ()
    without_groups: Sequence[str] = ()
    ai_taskers: bool = False
    visits: int = 1
    content_warning: str = ""
    content_warning_details: str = ""
    screen_out_cents: int = 0
    screen_out_places: int = 0
    quotas: Mapping[str, int] = field(default_factory=dict)
    early_percent: int = 10

    @property
    def demands(self) -> list[str]:
        """Return the terms that differ from the defaults.

        Examples
        --------
        >>> StudyTerms(visits=2, groups=["64b0"]).demands
        ['groups', 'visits']
        """
        usual = {name.name: getattr(_USUAL, name.name) for name in fields(self)}
        return [
            name for name in usual if _plain(getattr(self, name)) != _plain(usual[name])
        ]


def _plain(value: object) -> object:
    return list(value) if isinstance(value, list | tuple) else value


_USUAL = StudyTerms()
