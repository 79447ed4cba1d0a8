import pytest

from crowd.hit_templates import HITTemplate
from crowd.hit_templates.checks import CHECKS


class TemplateContract:
    @pytest.mark.parametrize("clause", CHECKS)
    def test_it_can_be_used(self, template: HITTemplate, clause: str) -> None:
        assert CHECKS[clause](template)
