from crowd.platforms.base import Result
from crowd.platforms.prolific_protocol.calls import Calls

PATH = "participant-groups/"


class Groups:
    """The groups that our studies exclude; Prolific updates running studies."""

    def __init__(self, calls: Calls, workspace_id: str) -> None:
        self._calls = calls
        self._workspace = workspace_id
        self._known: dict[str, str] = {}

    def of(self, pool: str) -> str:
        if not self._workspace:
            return ""
        if pool not in self._known:
            name = f"Not for this work: {pool}"
            self._known[pool] = self._named(name) or self._made(name)
        return self._known[pool]

    def add(self, key: str, worker_id: str, pool: str) -> Result:
        return self._change("POST", key, worker_id, pool)

    def remove(self, key: str, worker_id: str, pool: str) -> Result:
        return self._change("DELETE", key, worker_id, pool)

    def _change(self, method: str, key: str, worker_id: str, pool: str) -> Result:
        group = self.of(pool)
        if not group:
            # Our own pages exclude the worker in any case.
            return Result(key, "done")
        path = f"{PATH}{group}/participants/"
        self._calls(method, path, json={"participant_ids": [worker_id]})
        return Result(key, "done", group)

    def _named(self, name: str) -> str:
        rows = self._calls.pages(PATH, workspace_id=self._workspace)
        return next((str(row["id"]) for row in rows if row.get("name") == name), "")

    def _made(self, name: str) -> str:
        body = {"name": name, "workspace_id": self._workspace}
        # Once: of two groups with one name, a study would exclude only one.
        return str(self._calls.without_retry("POST", PATH, json=body)["id"])
