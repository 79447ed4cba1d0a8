from django.urls import path

from crowd.requester.pages import urls
from crowd.worker_site import arrival, hit, pages, preferences, qualification
from crowd.worker_site import preferences as payment
from crowd.worker_site.hit import page
from crowd.worker_site.pages import message_list

app_name = "work"
urlpatterns = [
    path("", pages.home, name="home"),
    path("invitation/<str:token>/", arrival.invitation, name="invitation"),
    path(
        "panel/<slug:panel>/<int:pk>/",
        arrival.by_link,
        {"platform": "panel"},
        name="panel",
    ),
    path("from/<slug:platform>/<int:pk>/", arrival.by_link, name="arrive"),
    path("elsewhere/<str:token>/", page, name="elsewhere"),
    path("finished/", arrival.finish_visit, name="finished"),
    path("consent/<slug:pool>/", pages.consent, name="consent"),
    path("instructions/<slug:pool>/", pages.instructions, name="instructions"),
    path("earnings/", pages.earnings, name="earnings"),
    path("payment/", payment.payment, name="payment"),
    path("settings/", preferences.settings, name="settings"),
    path("settings/zone/", preferences.zone, name="zone"),
    path("agreed/<int:pk>/", preferences.show_consent, name="agreed"),
    path("no-news/<str:token>/", preferences.no_news, name="no-news"),
    path("messages/", message_list, name="messages"),
    path("test/<slug:name>/", qualification.test, name="test"),
    path("try/<int:pk>/", qualification.attempt, name="attempt"),
    path("next/", hit.next_hit, name="next"),
    path("hit/<int:pk>/", hit.hit, name="hit"),
    path("hit/<int:pk>/change/", hit.change, name="change"),
    path("hit/<int:pk>/return/", hit.give_back, name="return"),
    *urls.urlpatterns,
]
