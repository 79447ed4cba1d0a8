"""Hold raw answers against the service model that every client carries."""

import json
import re


class Judge:
    def __init__(self):
        self.complaints = []
        self.answered = set()
        self.called = set()
        self.heard = []

    def watch(self, client):
        client.meta.events.register("after-call.mturk.*", self._hear)

    def _hear(self, http_response, model, **_):
        self.called.add(model.name)
        said = json.dumps(json.loads(http_response.content), indent=1, sort_keys=True)
        self.heard.append(f"{model.name}: {http_response.status_code}\n{said}\n")
        if not http_response.headers.get("x-amzn-RequestId"):
            self.complaints.append(f"{model.name}: no x-amzn-RequestId")
        if http_response.status_code != 200:
            return
        self.answered.add(model.name)
        if http_response.headers["Content-Type"] != "application/x-amz-json-1.1":
            self.complaints.append(f"{model.name}: content type")
        self._hold(model.output_shape, json.loads(http_response.content), model.name)

    def _hold(self, shape, value, where):
        getattr(self, f"_{shape.type_name}")(shape, value, where)

    def _structure(self, shape, value, where):
        for name in value:
            if name not in shape.members:
                self.complaints.append(f"{where}: {name} is not in the model")
            else:
                self._hold(shape.members[name], value[name], f"{where}.{name}")
        for name in shape.required_members:
            if name not in value:
                self.complaints.append(f"{where}: {name} is missing")

    def _list(self, shape, value, where):
        for one in value:
            self._hold(shape.member, one, f"{where}[]")

    def _string(self, shape, value, where):
        # the model takes a question's name for an id; Amazon's own example is Question_2
        limits = {} if where.endswith("[].QuestionId") else shape.metadata
        if (
            not isinstance(value, str)
            or not limits.get("min", 0) <= len(value) <= limits.get("max", 10**9)
            or not re.search(limits.get("pattern", ""), value)
            or (shape.enum and value not in shape.enum)
        ):
            self.complaints.append(f"{where}: {value!r}")

    def _integer(self, shape, value, where):
        if type(value) is not int:
            self.complaints.append(f"{where}: {value!r}")

    _long = _integer

    def _boolean(self, shape, value, where):
        if type(value) is not bool:
            self.complaints.append(f"{where}: {value!r}")

    def _timestamp(self, shape, value, where):
        if type(value) not in {int, float}:
            self.complaints.append(f"{where}: {value!r}")
