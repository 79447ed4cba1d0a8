"""All settings, from environment variables; the defaults need no service.

docs/operating.md lists every variable. No setting requires a cloud account.
"""

import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from django.utils.functional import lazy

from genie import VERSION
from genie.accounts import mail, sign_in
from genie.lib import env, keys, retention, site_address
from genie.lib.log_config import to_console
from genie.lib.queue.address import queue_options
from genie.lib.serving import languages
from genie.lib.serving.cache_address import caches
from genie.lib.storage import media_storage
from genie.upkeep import contacts

BASE_DIR = Path(__file__).resolve().parent.parent
# All written files: database, uploads, logs, the demo's credentials.
VAR_DIR = Path(env.text("GENIE_VAR", str(Path.cwd() / "var"))).resolve()

DEBUG = env.flag("GENIE_DEBUG")
PRODUCTION = env.flag("GENIE_PRODUCTION")


def _secret_key() -> Any:
    """Return the key from the environment, or one that is read from its file."""
    key = env.text("GENIE_SECRET_KEY")
    if PRODUCTION and not key:
        raise env.ConfigurationError("GENIE_SECRET_KEY must be set in production.")
    in_file = not key or f"{keys.VARIABLES[keys.SESSION]}_FILE" in os.environ
    return keys.Key(keys.session_key) if in_file else key


SECRET_KEY = _secret_key()
# former keys, the newest first: values derived from them stay valid
SECRET_KEY_FALLBACKS = env.words("GENIE_SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.words("GENIE_HOSTS", "localhost,127.0.0.1,[::1]")
if REQUESTER_ORIGIN := env.origin("GENIE_REQUESTER_ORIGIN"):
    ALLOWED_HOSTS.append(str(urlsplit(REQUESTER_ORIGIN).hostname))
CSRF_TRUSTED_ORIGINS = env.words("GENIE_ORIGINS")

# GitHub, Google and ORCID, if configured
SIGN_IN_PROVIDERS = sign_in.providers()

INSTALLED_APPS = [
    "leaderboard.site.admin_site.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_q",
    "rest_framework",
    "drf_spectacular",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    *(f"allauth.socialaccount.providers.{name}" for name in SIGN_IN_PROVIDERS),
    "genie.apps.GenieConfig",
    "crowd.apps.CrowdConfig",
    "quality.apps.QualityConfig",
    "leaderboard.apps.LeaderboardConfig",
]

MIDDLEWARE = [
    "genie.lib.logs.NumberRequests",
    "genie.lib.serving.health.HealthMiddleware",  # before any redirect and any check of the Host
    "crowd.requester.pages.origin.RequesterOriginMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "genie.lib.serving.languages.LanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "genie.accounts.devices.SessionsMiddleware",
    "genie.accounts.second_factor.SecondFactorMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "genie.lib.serving.security.ContentSecurityPolicyMiddleware",
]

ROOT_URLCONF = "genie.urls"
WSGI_APPLICATION = "genie.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [(BASE_DIR / "genie/assets/templates").resolve()],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- database ---------------------------------------------------------------------

_SQLITE_OPTIONS: dict[str, Any] = {
    # IMMEDIATE + WAL: writers queue up instead of failing with "database is locked".
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
        "PRAGMA mmap_size=134217728;PRAGMA cache_size=-20000;"
        "PRAGMA journal_size_limit=67108864;"
    ),
}


_ENGINES = {"django.db.backends.sqlite3", "django.db.backends.postgresql"}


def _database() -> dict[str, Any]:
    url = env.text("DATABASE_URL")
    if not url:
        url = f"sqlite:///{VAR_DIR / 'genie.sqlite3'}"
    config: dict[str, Any] = {}
    with suppress(ValueError):
        config |= dj_database_url.parse(url)
    if config.get("ENGINE") not in _ENGINES:
        raise env.ConfigurationError(
            "DATABASE_URL must be an address such as sqlite:////srv/genie.sqlite3 or "
            "postgres://user:password@host/name."
        )
    # None keeps connections: with 0, SQLite would re-run its PRAGMAs on every request.
    config["CONN_MAX_AGE"] = None
    if config["ENGINE"] == "django.db.backends.sqlite3":
        config["OPTIONS"] = {**_SQLITE_OPTIONS, **config.get("OPTIONS", {})}
    else:
        config["CONN_HEALTH_CHECKS"] = True
        # options in the address take precedence
        config["OPTIONS"] = {**env.POSTGRES_OPTIONS, **config.get("OPTIONS", {})}
    return config


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- caches -----------------------------------------------------------------------

CACHES = caches(env.text("GENIE_CACHE"), VAR_DIR / "cache", VERSION)

# --- queue ------------------------------------------------------------------------

Q_CLUSTER: dict[str, Any] = {
    **queue_options(env.text("GENIE_QUEUE")),
    "workers": env.integer("GENIE_WORKERS", 1, minimum=1),
    "timeout": 600,
    "retry": 660,
    "max_attempts": 3,
    "ack_failures": False,
    # Prefetched tasks wait in memory while their retry time runs out: keep it short.
    "queue_limit": 2,
    "bulk": 1,
    # Keeping successes costs a factor of four; failures are always kept.
    "save_limit": -1,
    "catch_up": False,
    "recycle": env.integer("GENIE_JOBS_PER_PROCESS", 25, minimum=1),
    "poll": 0.5,
    # the supervisor queues the periodic jobs: it is connected anyway
    "scheduler": False,
    # no figures of its processes: two writes a second that nothing reads
    "cache": "none",
    "label": "Queue",
}

# --- files ------------------------------------------------------------------------

MEDIA_ROOT = VAR_DIR / "media"
MEDIA_URL = "/media/"  # never served: downloads go through views that check permissions
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [(BASE_DIR / "genie/assets/static").resolve()]
WHITENOISE_USE_FINDERS = not PRODUCTION
if not PRODUCTION:  # it has none, as nothing has to be collected
    warnings.filterwarnings("ignore", "No directory at", UserWarning)
STORAGES = {
    "default": media_storage(env.text("GENIE_STORAGE")),
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if PRODUCTION
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}
FILE_UPLOAD_MAX_MEMORY_SIZE = 1 << 20
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 << 20

# --- language and time ------------------------------------------------------------

LANGUAGE_CODE = languages.ENGLISH
LANGUAGES = languages.LANGUAGES
LOCALE_PATHS = [BASE_DIR / "genie/locale"]
FORMAT_MODULE_PATH = "genie.locale"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
USE_TZ = True
# for languages without a format
DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = "Y-m-d H:i"
TIME_FORMAT = "H:i"
TIME_ZONE = "UTC"  # the queue's schedules assume it; campaigns have a separate zone

# --- accounts and security --------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AUTHENTICATION_BACKENDS = ["crowd.elsewhere.pages.AccountWithWorker"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "leaderboard:my-submissions"
LOGOUT_REDIRECT_URL = "leaderboard:home"
SESSION_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
# Subdomains may belong to other people, and preloading is hard to undo, so neither is
# recommended.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
if PRODUCTION:
    SECURE_SSL_REDIRECT = env.flag("GENIE_SSL_REDIRECT", True)
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    # Browsers require HTTPS for so long, whatever happens to the certificate meanwhile.
    SECURE_HSTS_SECONDS = env.integer("GENIE_HSTS_SECONDS", 3600)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = env.flag("GENIE_HSTS_SUBDOMAINS")
    SECURE_HSTS_PRELOAD = env.flag("GENIE_HSTS_PRELOAD")
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    LANGUAGE_COOKIE_SECURE = True

ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Genie] "
USERSESSIONS_TRACK_ACTIVITY = True
globals().update(sign_in.settings_for(production=PRODUCTION))
ALLAUTH_TRUSTED_PROXY_COUNT = env.integer("GENIE_PROXIES", 0)
SOCIALACCOUNT_PROVIDERS = SIGN_IN_PROVIDERS

# --- mail -------------------------------------------------------------------------

globals().update(mail.settings_for(env.text("GENIE_EMAIL", "file"), VAR_DIR / "mail"))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.text("GENIE_EMAIL_FROM", "genie@localhost")

# --- API --------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "genie.accounts.authentication.TokenAuthentication",
        "genie.accounts.authentication.SignedIn",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticatedOrReadOnly",
        "genie.accounts.authentication.ScopeFits",
    ],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 100,
    "DEFAULT_SCHEMA_CLASS": "leaderboard.site.api.schema.Described",
    "DEFAULT_THROTTLE_RATES": {
        "anon": "600/hour",
        "user": "3000/hour",
        "file": "240/hour",
        "wrong-token": "120/hour",
        "wrong-link": "60/hour",
    },
    # Without it, a forged X-Forwarded-For bypasses the throttle.
    "NUM_PROXIES": env.integer("GENIE_PROXIES", 0),
    "EXCEPTION_HANDLER": "leaderboard.api.problems.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Genie API",
    "DESCRIPTION": "Human-evaluation leaderboards for text generation.",
    "VERSION": "1.1.0",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "SubmissionStateEnum": "leaderboard.models.Submission.State",
        "CampaignStateEnum": "crowd.models.Campaign.State",
        "DeliveryStateEnum": "leaderboard.models.WebhookDelivery.State",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "leaderboard.site.api.schema.complete",
    ],
}

# --- Genie's own ------------------------------------------------------------------

GENIE: dict[str, Any] = {
    "SIGN_UP": env.flag("GENIE_SIGN_UP", True),  # accounts that visitors create
    # groups whose members need a second factor; also superusers, staff
    "SECOND_FACTOR": env.words("GENIE_SECOND_FACTOR"),
    "REQUESTER_ORIGIN": REQUESTER_ORIGIN,  # of requesters' pages
    "SITE_URL": site_address.read(VAR_DIR),  # in e-mails and webhooks
    **contacts.from_environment(),  # alerts, reports of vulnerabilities
    "WEBHOOKS_PRIVATE": env.flag("GENIE_WEBHOOKS_PRIVATE"),  # into our own network
    "MAX_UPLOAD_BYTES": env.integer("GENIE_MAX_UPLOAD_MB", 100) << 20,  # also unpacked
    "MAX_PREDICTION_CHARS": env.integer("GENIE_MAX_PREDICTION_CHARS", 20_000),
    "TASKS": env.words("GENIE_TASKS"),  # additional folders of tasks
    # the maximal cost of all campaigns together, in cents
    "SITE_BUDGET_CENTS": env.integer("GENIE_SITE_BUDGET_CENTS", 1_000_000),
    "MINIMUM_HOURLY_CENTS": 1500,
    # campaigns start at this local time, on weekdays that are not holidays
    "CAMPAIGN_ZONE": env.zone("GENIE_CAMPAIGN_ZONE", "America/Los_Angeles"),
    "CAMPAIGN_HOUR": env.integer("GENIE_CAMPAIGN_HOUR", 10, maximum=23),
    "HOLIDAYS": env.dates("GENIE_HOLIDAYS"),  # dates, 2026-12-25
    # submitted work is approved after this many hours unless staff reject it
    "AUTO_APPROVAL_HOURS": env.integer("GENIE_AUTO_APPROVAL_HOURS", 24),
    # a campaign reserved for one worker is opened to another after their absence for so
    # long
    "RESERVATION_HOURS": env.integer("GENIE_RESERVATION_HOURS", 48, minimum=1),
    # for how many days people's data is kept, by kind
    "KEEP_DAYS": retention.days_from_environment(),
    "BOOTSTRAP_RESAMPLES": 10_000,
    "DETECTOR": env.text("GENIE_DETECTOR", "all-evidence"),  # of detector_specs.py
    "BAN_THRESHOLD": 0.99,
    # staff get a notice if a greater share of the crowd is careless
    # a worker with a greater probability of being careless is paused until it is
    # decided
    "PAUSE_ABOVE": env.percent("GENIE_PAUSE_ABOVE_PERCENT", 90, minimum=50),
    # noisy: right on less than this share of test questions; a task can override it
    "NOISY_BELOW": env.percent("GENIE_NOISY_BELOW_PERCENT", 90),
    # the largest share of a pool's workers that is excluded before staff review it
    "MOST_EXCLUDED": env.percent("GENIE_MOST_EXCLUDED_PERCENT", 20, 0, 100),
    # a score from a smaller share of the planned instances is partial: it is not ranked
    "WHOLE_SHARE": 0.95,
    # test questions that a script can detect need staff's approval before work starts
    "TEST_QUESTIONS_CHECKED": env.flag("GENIE_TEST_QUESTIONS_CHECKED", default=True),
    # how often campaigns on other platforms are looked at
    "PLATFORM_SYNC_SECONDS": env.integer("GENIE_PLATFORM_SYNC_SECONDS", 120),
    # accounts on platforms; docs/crowd-platforms.md describes their settings
    "PLATFORMS": {
        "mturk": {
            "environment": env.text("GENIE_MTURK_ENVIRONMENT"),  # never guessed
            "endpoint_url": env.text("GENIE_MTURK_ENDPOINT_URL"),
            "production_confirmed": env.flag("GENIE_MTURK_PRODUCTION"),
            "access_key_id": env.text("GENIE_MTURK_ACCESS_KEY_ID"),
            "secret_access_key": env.text("GENIE_MTURK_SECRET_ACCESS_KEY"),
            "queue_url": env.text("GENIE_MTURK_QUEUE_URL"),
            # the topic that passes notices on to us, if there is no queue
            "topic": env.text("GENIE_MTURK_TOPIC"),
            "threads": env.integer("GENIE_MTURK_THREADS", 10, minimum=1, maximum=32),
        },
        "prolific": {
            # production, or endpoint with an address; there is no sandbox
            "environment": env.text("GENIE_PROLIFIC_ENVIRONMENT"),
            "url": env.text("GENIE_PROLIFIC_URL"),
            "token": env.text("GENIE_PROLIFIC_TOKEN"),
            "workspace_id": env.text("GENIE_PROLIFIC_WORKSPACE"),
            "project_id": env.text("GENIE_PROLIFIC_PROJECT"),
            "code_secret": lazy(
                lambda: f"prolific codes {keys.values(keys.PSEUDONYM)[0]}", str
            )(),  # changes with it
        },
    },
    # how many items a person from Prolific does for one place in a study
    "PROLIFIC_ITEMS_PER_PLACE": env.integer("GENIE_PROLIFIC_ITEMS_PER_PLACE", 10, 1),
    "PROLIFIC_WEBHOOK_SECRET": env.text("GENIE_PROLIFIC_WEBHOOK_SECRET"),
    # the end of the address at which a topic posts notices
    "MTURK_NOTICE_SECRET": env.in_address("GENIE_MTURK_NOTICE_SECRET", shortest=20),
    # another server that speaks SNS's protocol, by boto3's variable
    "SNS_ENDPOINT_URL": env.text("AWS_ENDPOINT_URL_SNS"),
    # hosts besides Amazon's whose certificates for SNS messages are accepted
    "SNS_CERTIFICATE_HOSTS": env.words("GENIE_SNS_CERTIFICATE_HOSTS"),
    # restart the queue's processes when they stop answering for this long
    "QUEUE_STALE_SECONDS": env.integer("GENIE_QUEUE_STALE_SECONDS", 90, minimum=5),
}

_QUIET = "WARNING" if "test" in sys.argv else "INFO"
LOGGING = to_console(env.text("GENIE_LOG_LEVEL", _QUIET), env.text("GENIE_LOG_FORMAT"))
