from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import URLPattern, URLResolver, include, path

from genie.accounts.views import LoginView
from genie.lib.serving.pages import post_or
from genie.upkeep.views import public_status, security_txt, status

# Staff sign in like all users: with two factors, and limited tries.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
admin.site.site_header = "Genie administration"
admin.site.site_title = "Genie"
admin.site.site_url = "/"
admin.autodiscover()
# lists need the width; each page has a link to the index at the top
admin.site.enable_nav_sidebar = False

handler429 = "genie.accounts.throttles.page"  # allauth's
handler500 = "genie.lib.serving.health.server_error"

urlpatterns: list[URLPattern | URLResolver] = [
    path(".well-known/security.txt", security_txt, name="security-txt"),
    path("status/", public_status, name="public-status"),
    path("admin/status/", status, name="status"),
    path("admin/", admin.site.urls),
    path("login/", LoginView.as_view(), name="login"),
    path(
        "logout/", post_or("leaderboard:home")(auth.LogoutView.as_view()), name="logout"
    ),
    path("account/", include("genie.accounts.urls", namespace="accounts")),
    path("account/login/", LoginView.as_view(), name="account_login"),
    path("account/", include("allauth.urls")),
    path("api/v1/", include("leaderboard.site.api.urls", namespace="api")),
    path("api/", include("leaderboard.site.api.operations")),
    path("turk", include("crowd.requester.api", namespace="turk")),
    path("work/appeals/", include("quality.appeals.pages", namespace="appeals")),
    path("requester/", include("crowd.requester.urls", namespace="requester")),
    path("work/", include("crowd.worker_site.urls", namespace="work")),
    path("hooks/", include("crowd.elsewhere.hooks", namespace="hooks")),
    path("", include("leaderboard.urls", namespace="leaderboard")),
]
