from collections.abc import Mapping

from crowd.platforms.base import Capabilities, Completion, Identity, Outcome
from crowd.platforms.without_server import Here
from genie.lib.errors import GenieError


class SelfHosted(Here):
    slug = "selfhosted"
    title = "Our own workers"
    capabilities = Capabilities(
        assigns_items=True,
        idempotent_bonus=True,
        native_exclusion=True,
        checks_requirements=True,
    )

    def identity(self, parameters: Mapping[str, str]) -> Identity:
        """Read the signed-in user's name, which the site itself provides."""
        worker_id = parameters.get("worker_id", "")
        if not worker_id:
            raise GenieError("Workers sign in here.", code="who-are-you")
        return Identity(worker_id, parameters.get("session_id", ""))

    def completion(self, who: Identity, outcome: Outcome) -> Completion:
        return Completion("none")
