from django.urls import path

from crowd.requester import views

app_name = "requester"
urlpatterns = [
    path("", views.home, name="home"),
    path("<str:customer_id>/", views.desk, name="desk"),
    path("<str:customer_id>/keys/<int:pk>/revoke/", views.revoke, name="revoke-key"),
    path("<str:customer_id>/batches/", views.batches, name="batches"),
    path("<str:customer_id>/batches/<int:pk>/", views.batch, name="batch"),
    path("<str:customer_id>/batches/<int:pk>/stop/", views.stop, name="stop-batch"),
    path(
        "<str:customer_id>/batches/<int:pk>/results.csv", views.results, name="results"
    ),
    path("<str:customer_id>/layouts/", views.layouts, name="layouts"),
    path(
        "<str:customer_id>/layouts/<int:pk>/retire/", views.retire, name="retire-layout"
    ),
]
