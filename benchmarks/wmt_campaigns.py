"""A WMT: pools of as many campaigns as there are systems, errors marked."""

from benchmarks import world

SEGMENTS = 40


def make_campaigns(n_pools: int, n_systems: int, items: int) -> None:
    """Build and start the campaigns of all language pairs."""
    from django.utils import timezone

    from crowd.campaigns.services import run
    from crowd.hits.models import Pool
    from crowd.hits.services.build import HITTypeSpec, ItemSpec, build_campaign

    texts = world.texts(SEGMENTS * n_systems, seed=3)
    for pool in range(n_pools):
        Pool.objects.create(slug=f"bench-{pool}")
        kind = HITTypeSpec(
            template="error-span-translation",
            scale="slider-100",
            criteria={"overall": "All in all, how good is the translation?"},
            title=f"Mark errors: pair {pool}",
            description="Mark what is wrong.",
            keywords="text",
            reward_cents=5,
            assignment_seconds=1800,
            form={"items_per_page": items, "page_by": "id"},
        )
        for system in range(n_systems):
            build_campaign(
                key=f"bench-{pool}-{system}",
                pool=f"bench-{pool}",
                title=f"System {system}",
                hit_type=kind,
                items=[
                    ItemSpec(
                        f"item-{pool}-{system}-{i}",
                        {
                            "fields": [
                                {
                                    "label": "Source",
                                    "text": texts[i][::-1],
                                    "lang": "en",
                                }
                            ],
                            "prediction": texts[system * SEGMENTS + i],
                            "lang": "en",
                            "of_document": f"doc-{i // 8}",
                            "part": i,
                        },
                        f"input-{pool}-{i}",
                    )
                    for i in range(SEGMENTS)
                ],
                budget_cents=10**7,
                seed=system,
                starts_at=timezone.now(),
            )
    run.start_due()
