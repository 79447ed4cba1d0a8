from django.db import migrations

# Notices are found again by their sentences: those of before would never be cleared.
NOTICES = {
    "HITs wait, but nobody who was here lately may take one: all are excluded, have seen "
    "these texts or lack what is required. Invite more workers, or stop the campaign.":
    "HITs are waiting, but no recently active worker can take one: all are excluded, "
    "have seen the inputs, or do not qualify. Invite more workers or stop the campaign.",
    "An hour of this work pays less than the floor at the median pace: see it here, and "
    "make up for it when it is over.":
    "At the median pace, this work pays less than the hourly minimum: top up the pay "
    "when the campaign is over.",
    "The median answer comes faster than the texts can be read: look at the workers.":
    "The median answer is faster than the texts can be read: check the workers.",
    "The worker who had this campaign to themselves did not go on, so somebody else may: "
    "its answers are not all one person's.":
    "The worker for whom this campaign was reserved did not continue, so others may "
    "take it: its answers do not all come from one person.",
}
TROUBLE = {"The last look failed: ": "The last check failed: "}


def reword(apps, schema_editor):
    """Put what staff were told into the words of today."""
    for model, field, longest, words in (
        ("Campaign", "notice", 600, NOTICES),
        ("ExternalCampaign", "trouble", 500, TROUBLE),
    ):
        rows = apps.get_model("crowd", model).objects
        for pk, text in rows.exclude(**{field: ""}).values_list("pk", field):
            new = text
            for old, today in words.items():
                new = new.replace(old, today)
            if new != text:
                rows.filter(pk=pk).update(**{field: new[:longest]})


class Migration(migrations.Migration):

    dependencies = [
        ('crowd', '0019_plain_labels'),
    ]

    operations = [
        migrations.RunPython(reword, migrations.RunPython.noop),
    ]
