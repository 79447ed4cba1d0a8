"""Addresses of the requesters' own pages."""

from __future__ import annotations

from django.urls import path

from crowd.requester.views import batches, desk, layouts

app_name = "requester"
urlpatterns = [
    path("", desk.home, name="home"),
    path("<str:customer_id>/", desk.desk, name="desk"),
    path("<str:customer_id>/keys/<int:pk>/revoke/", desk.revoke, name="revoke-key"),
    path("<str:customer_id>/batches/", batches.batches, name="batches"),
    path("<str:customer_id>/batches/<int:pk>/", batches.batch, name="batch"),
    path("<str:customer_id>/batches/<int:pk>/stop/", batches.stop, name="stop-batch"),
    path(
        "<str:customer_id>/batches/<int:pk>/results.csv",
        batches.results,
        name="results",
    ),
    path("<str:customer_id>/layouts/", layouts.layouts, name="layouts"),
    path(
        "<str:customer_id>/layouts/<int:pk>/retire/",
        layouts.retire,
        name="retire-layout",
    ),
]
