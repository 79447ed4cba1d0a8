from django.urls import path

from leaderboard.teams.views import my_data, teams, webhooks

urlpatterns = [
    path("teams/", teams.teams, name="teams"),
    path("teams/<slug:slug>/", teams.team, name="team"),
    path("teams/<slug:slug>/invite/", teams.invite, name="invite"),
    path(
        "teams/<slug:slug>/invitations/<int:pk>/take-back/",
        teams.take_back,
        name="take-back",
    ),
    path("teams/<slug:slug>/members/<int:pk>/", teams.member, name="team-member"),
    path("teams/<slug:slug>/webhooks/", webhooks.webhooks, name="webhooks"),
    path("teams/<slug:slug>/webhooks/<int:pk>/", webhooks.webhook, name="webhook"),
    path("team-invitation/<str:token>/", teams.invitation, name="team-invitation"),
    path("account/notices/", my_data.notices, name="notices"),
    path("account/data.json", my_data.my_data, name="my-data"),
    path("account/delete/", my_data.leave, name="leave"),
]
