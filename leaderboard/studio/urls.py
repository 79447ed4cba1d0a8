from django.urls import path

from leaderboard.studio.views import files, imports, pilot, questions, start, tasks

urlpatterns = [
    path("new/", files.new, name="studio-new"),
    path("import/", imports.new_import, name="studio-import-new"),
    path("import/<int:pk>/", imports.import_draft, name="studio-import"),
    path("tasks/<slug:slug>/", tasks.task, name="studio-task"),
    path("<int:pk>/files/", files.files, name="studio-files"),
    path("<int:pk>/delete/", files.delete, name="studio-delete"),
    path("<int:pk>/ask/", questions.ask, name="studio-ask"),
    path("<int:pk>/page/", questions.worker_page, name="studio-page"),
    path("<int:pk>/tests/", questions.tests, name="studio-tests"),
    path("<int:pk>/people/", questions.people, name="studio-people"),
    path("<int:pk>/pilot/", pilot.pilot, name="studio-pilot"),
    path("<int:pk>/start/", start.start, name="studio-start"),
]
