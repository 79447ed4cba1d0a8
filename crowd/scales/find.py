"""All scales by their slugs: offered ones and those of imported ratings."""

from typing import Any

from crowd.scales.base import Scale
from crowd.scales.elsewhere import scale_elsewhere
from genie.lib.extension import discover


class _Scales(dict[str, type[Scale]]):
    """Scales by their slugs; those of imported ratings are found, not listed."""

    def __missing__(self, slug: str) -> type[Scale]:
        if (scale := scale_elsewhere(slug)) is None:
            raise KeyError(slug)
        return scale

    def __contains__(self, slug: object) -> bool:
        return super().__contains__(slug) or scale_elsewhere(str(slug)) is not None

    def get(self, slug: str, default: Any = None) -> Any:
        try:
            return self[slug]
        except KeyError:
            return default


def all_scales() -> dict[str, type[Scale]]:
    """Return all scales by their slugs.

    Examples
    --------
    >>> sorted(all_scales())[:2]
    ['binary', 'likert-5']
    >>> all_scales()["number_1_7"].minimum
    1.0
    """
    return _Scales(discover("crowd.scales", Scale))
