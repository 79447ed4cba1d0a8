from django.urls import path

from genie.accounts import views

app_name = "accounts"

urlpatterns = [
    path("", views.home, name="home"),
    path("set-up/<str:token>/", views.set_up, name="set-up"),
    path("sessions/<int:pk>/end/", views.end_session, name="end-session"),
    path("tokens/", views.my_tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", views.revoke, name="revoke-token"),
]
