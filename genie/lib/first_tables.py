"""The operation with which an app's first migration creates its tables.

Django renders all related models again for each operation, which takes most of the time
to create a database. Here they are rendered once for each app.
"""

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import SeparateDatabaseAndState
from django.db.migrations.state import ProjectState


class FirstTables(SeparateDatabaseAndState):
    reversible = False

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        # each operation would render again all models that are rendered already
        state.__dict__.pop("apps", None)
        super().state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for model in to_state.apps.get_app_config(app_label).get_models():
            if self.allow_migrate_model(schema_editor.connection.alias, model):
                schema_editor.create_model(model)
