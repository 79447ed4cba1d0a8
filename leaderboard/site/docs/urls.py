from django.urls import path

from leaderboard.site.docs import views

urlpatterns = [
    path("", views.index, name="docs"),
    path("search/", views.search_docs, name="docs-search"),
    path("tasks/", views.tasks, name="docs-tasks"),
    path("tasks/<slug:slug>/", views.task, name="docs-task"),
    path("files/<path:path>", views.file, name="docs-file"),
    path("<slug:slug>/", views.page, name="docs-page"),
]
