from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest

from genie.lib.admin import read_only

if TYPE_CHECKING:
    from genie.lib.typing import Account


class PageOfRows(ChangeList):
    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        self.model_admin.look_up(self.result_list)  # type: ignore[attr-defined]


class ReadOnlyAdmin(read_only.ReadOnlyAdmin):
    # who may act: Django's own permission to change the rows
    act_permission: ClassVar[str] = ""

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(self.act_permission)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return PageOfRows

    def look_up(self, rows: list[Any]) -> None:
        """Load figures for the rows of one page; by default none."""


def person(request: HttpRequest) -> Account:
    return cast("Account", request.user)
