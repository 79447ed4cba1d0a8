"""Tokens that were made before they had names and scopes go on working."""

from __future__ import annotations

import hashlib

from django.db import migrations

OLD = "authtoken_token"


def take_over(apps, schema_editor):
    connection = schema_editor.connection
    if OLD not in connection.introspection.table_names():
        return
    AccessToken = apps.get_model("genie", "AccessToken")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT key, user_id FROM {OLD}")
        rows = cursor.fetchall()
    for key, user_id in rows:
        AccessToken.objects.get_or_create(
            token_sha256=hashlib.sha256(key.encode()).hexdigest(),
            defaults={
                "user_id": user_id,
                "name": "made before tokens had names",
                "ending": key[-4:],
                "scopes": ["read", "submit", "staff"],
            },
        )
    schema_editor.execute(f"DROP TABLE {OLD}")


class Migration(migrations.Migration):
    dependencies = [("genie", "0001_access_tokens")]

    operations = [migrations.RunPython(take_over, migrations.RunPython.noop)]
