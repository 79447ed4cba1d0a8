from django.contrib import admin

from crowd.workers.models.requirement import Requirement
from genie.accounts.task_admin import EditedOfTask
from genie.lib.admin.reasons import AsksWhy


@admin.register(Requirement)
class RequirementAdmin(EditedOfTask, AsksWhy):
    pool_paths = (
        "pool",
        "campaign__pool",
    )
    list_display = ["__str__", "pool", "campaign", "kind"]
    list_filter = ["kind", "pool"]
    list_select_related = ["campaign"]
    search_fields = ["pool", "campaign__title", "test_name"]
    autocomplete_fields = ["campaign"]
