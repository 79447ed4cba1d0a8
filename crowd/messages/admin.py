from django.contrib import admin

from crowd.messages.models import Message
from genie.lib.admin import ReadOnlyAdmin


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ["subject", "worker", "kind", "pool", "created_at", "read_at"]
    list_filter = ["kind", ("read_at", admin.EmptyFieldListFilter), "created_at"]
    list_select_related = ["worker", "pool"]
    search_fields = ["worker__pseudonym", "subject", "text"]
