from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from crowd.hits.models import Campaign
from crowd.workers.choices import COUNTRIES, languages


class Requirement(models.Model):
    class Kind(models.TextChoices):
        TEST = "TEST", "has passed a qualification test"
        APPROVED = "APPROVED", "number of approved HITs"
        APPROVED_PERCENT = "APPROVED_PERCENT", "share of HITs approved, in percent"
        COUNTRY = "COUNTRY", "lives in one of these countries"
        LANGUAGE = "LANGUAGE", "speaks one of these languages"

    pool = models.ForeignKey(
        "crowd.Pool",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        help_text="The benchmark task, for all its campaigns; or choose a campaign.",
    )
    campaign = models.ForeignKey(
        Campaign,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="requirements",
    )
    kind = models.CharField(max_length=20, choices=Kind.choices)
    test_name = models.SlugField(
        max_length=100, blank=True, help_text="Name of the qualification."
    )
    at_least = models.PositiveIntegerField(
        null=True, blank=True, help_text="A number of HITs, or a percentage."
    )
    countries = models.CharField(
        max_length=300, blank=True, help_text="Two-letter codes, separated by spaces."
    )

    languages = models.CharField(
        max_length=300,
        blank=True,
        help_text="Two-letter codes such as de fr, separated by spaces; workers say "
        "themselves which they speak.",
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(pool=None, campaign__isnull=False)
                | Q(pool__isnull=False, campaign=None),
                name="of_a_pool_or_of_a_campaign",
                violation_error_message="Give either a pool or a campaign.",
            ),
            models.UniqueConstraint(
                fields=["pool", "kind", "test_name"],
                condition=Q(campaign=None),
                name="pool_requires_once",
            ),
            models.UniqueConstraint(
                fields=["campaign", "kind", "test_name"],
                condition=Q(campaign__isnull=False),
                name="campaign_requires_once",
            ),
        ]

    def __str__(self) -> str:
        what = {
            self.Kind.TEST: f"qualification {self.test_name}",
            self.Kind.APPROVED: f"at least {self.at_least} approved HITs",
            self.Kind.APPROVED_PERCENT: f"at least {self.at_least}% approved",
            self.Kind.COUNTRY: f"lives in {self.countries}",
            self.Kind.LANGUAGE: f"speaks {self.languages}",
        }
        return what.get(self.Kind(self.kind), self.kind)

    @property
    def content(self) -> list[str | int | None]:
        what = self.languages if self.kind == self.Kind.LANGUAGE else self.countries
        return [self.kind, self.test_name, self.at_least, what]

    @property
    def demands(self) -> bool:
        """Check whether anyone could lack it: "at least none" is no requirement."""
        numbers = {self.Kind.APPROVED, self.Kind.APPROVED_PERCENT}
        return self.kind not in numbers or bool(self.at_least)

    @property
    def country_codes(self) -> list[str]:
        return self.countries.upper().replace(",", " ").split()

    @property
    def language_codes(self) -> list[str]:
        return self.languages.lower().replace(",", " ").split()

    def clean(self) -> None:
        if self.kind == self.Kind.TEST:
            if not self.test_name:
                raise ValidationError(
                    {"test_name": "Give the name of the qualification."}
                )
        elif self.kind == self.Kind.COUNTRY:
            self._clean_codes("countries", self.country_codes, COUNTRIES)
        elif self.kind == self.Kind.LANGUAGE:
            self._clean_codes("languages", self.language_codes, languages())
        elif self.kind in self.Kind.values:
            self._clean_number()

    def _clean_number(self) -> None:
        most = 100 if self.kind == self.Kind.APPROVED_PERCENT else None
        if self.at_least is None:
            raise ValidationError({"at_least": "Give the minimum."})
        if most is not None and self.at_least > most:
            raise ValidationError({"at_least": "A percentage cannot exceed 100."})

    def _clean_codes(
        self, field: str, codes: list[str], known: Collection[str]
    ) -> None:
        if not codes:
            raise ValidationError({field: "Give two-letter codes."})
        if unknown := [code for code in codes if code not in known]:
            raise ValidationError(
                {field: f"These are no two-letter codes: {', '.join(unknown)}."}
            )
