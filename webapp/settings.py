"""Django's settings, all from `webapp.env`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import django_stubs_ext
from csp.constants import NONE, SELF, UNSAFE_INLINE
from whitenoise.compress import Compressor

from results import VERSION
from results.domain import messages
from webapp import env
from webapp.queue_servers import is_amqp, queue_server

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
TEITEN = env.read()

SECRET_KEY = TEITEN.secret_key
DEBUG = TEITEN.debug
ALLOWED_HOSTS = list(TEITEN.allowed_hosts)
CSRF_TRUSTED_ORIGINS = list(TEITEN.trusted_origins)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "django_filters",
    "django_celery_beat",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "results",
    "webapp",
]
MIDDLEWARE = [
    "webapp.request_log.RequestLogMiddleware",
    "webapp.health.HealthMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "webapp.language.LanguageMiddleware",
    "webapp.bodies.BodyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "webapp.compression.CompressionMiddleware",
    "webapp.conditional.AnswerMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "webapp.typography.JapaneseMiddleware",  # before the length of the answer is known
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "webapp.access.AddressMiddleware",
    "webapp.replica.ReplicaMiddleware",
    "webapp.access.ReadingMiddleware",
    "webapp.problems.ProblemMiddleware",
]
TEITEN_KEPT_S = 300
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # of one process: the last answers of webapp/conditional.py, of 1.5 MB at most each. What they are of may say
    # something that is no part of their ETag, such as whose code an agent takes: that is never older than the timeout.
    "answers": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "answers",
        "TIMEOUT": TEITEN_KEPT_S,
        "OPTIONS": {"MAX_ENTRIES": 24, "CULL_FREQUENCY": 8},
    },
}
TEITEN_COMPUTED = 20_000  # values of the comparisons and trends that a process keeps (webapp/computed.py)
ROOT_URLCONF = "webapp.urls"
WSGI_APPLICATION = "webapp.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
DATABASES = env.databases(TEITEN.database_url, TEITEN.replica_url)
DATABASE_ROUTERS = ["results.reading.Router"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTHENTICATION_BACKENDS = ["webapp.access.Accounts"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",  # of older accounts, hashed anew when they sign in
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account:sign-in"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "overview"

LANGUAGE_CODE = TEITEN.language
LANGUAGES = list(messages.LANGUAGES.items())
LANGUAGE_COOKIE_NAME = "teiten_language"
LANGUAGE_COOKIE_AGE = 365 * 86400
LANGUAGE_COOKIE_SAMESITE: Literal["Lax"] = "Lax"
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = TEITEN.https
TEITEN_CATALOGUES = TEITEN.state / "locale"  # manage.py compilemessages writes them
LOCALE_PATHS = [TEITEN_CATALOGUES]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = TEITEN.state / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "webapp.charts.finder.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "bundles": env.bundle_storage(TEITEN.bundle_storage),
    "staticfiles": {
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if DEBUG
            else "whitenoise.storage.CompressedManifestStaticFilesStorage"
        )
    },
}
WHITENOISE_MANIFEST_STRICT = False
# Packing for every encoding is most of the time that a first `make demo` waits: what no page links to is left out.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")

SECURE_CONTENT_TYPE_NOSNIFF = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = TEITEN.https
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TEITEN.https else None
SECURE_HSTS_SECONDS = 365 * 86400 if TEITEN.https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = TEITEN.https
SECURE_SSL_REDIRECT = TEITEN.https
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF, UNSAFE_INLINE],  # Plotly writes the styles of its figures into the page
        "font-src": [SELF, "data:"],  # of reports as one HTML file
        "img-src": [SELF, "data:", "blob:"],  # a figure that is saved as a picture
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "webapp.access.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["webapp.access.ScopePermission"],
    "DEFAULT_THROTTLE_CLASSES": ["webapp.api.limits.RateLimit"],
    "NUM_PROXIES": TEITEN.proxies,
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["webapp.api.parsers.StrictJSONParser"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "webapp.problems.api_exception",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Teiten",
    "DESCRIPTION": "Benchmark runs, trials and measurements of PostgreSQL. See docs/api.md.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "DEFAULT_GENERATOR_CLASS": "webapp.api.schema_language.Generator",
}

TEITEN_BUNDLE_DIR = TEITEN.bundle_dir
DATA_UPLOAD_MAX_NUMBER_FILES = 1000  # an import says itself how many files it takes
TEITEN_KINDS = TEITEN.kinds
TEITEN_PLAN_DIR = BASE_DIR / "plans"
TEITEN_OPEN_READING = TEITEN.open_reading
TEITEN_LEASE_S = TEITEN.lease_s
TEITEN_API_LIMIT = TEITEN.api_limit
TEITEN_API_LIMIT_ANONYMOUS = TEITEN.api_limit_anonymous
TEITEN_API_STREAMS = TEITEN.api_streams
TEITEN_API_STREAMS_EACH = TEITEN.api_streams_each

TEITEN_ADDRESS = TEITEN.address
TEITEN_WEBHOOK_HOSTS = TEITEN.webhook_hosts
TEITEN_EMAIL_DOMAIN = TEITEN.email_from.rpartition("@")[2].strip("<> ") or "localhost"
DEFAULT_FROM_EMAIL = TEITEN.email_from
MAIL = env.mail(TEITEN.email_url)
EMAIL_HOST, EMAIL_PORT = MAIL.host, MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.user, MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.starttls, MAIL.tls
EMAIL_TIMEOUT = 10

TEITEN_REDIS_URL = TEITEN.redis_url
BROKER = queue_server(TEITEN.broker_url, "TEITEN_BROKER_URL") if TEITEN.broker_url else queue_server(TEITEN.redis_url)
CELERY_BROKER_URL = BROKER.url
TEITEN_BROKER_OPTIONS = BROKER.options
# Only a second try connects anew to an AMQP server that has closed the connection: beat would fail for ever.
CELERY_TASK_PUBLISH_RETRY = is_amqp(CELERY_BROKER_URL)
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0}
DJANGO_CELERY_BEAT_TZ_AWARE = True

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"about": {"()": "results.logs.AboutFilter"}},
    "formatters": {
        "text": {
            "()": "results.logs.TextFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        },
        "json": {"()": "results.logs.LineFormatter"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": TEITEN.log_format, "filters": ["about"]},
    },
    "root": {"handlers": ["console"], "level": TEITEN.log_level},
    "loggers": {
        "asyncssh": {"level": "WARNING"},
        "fontTools": {"level": "WARNING"},
        "gunicorn.error": {"handlers": [], "propagate": True},
        "matplotlib": {"level": "ERROR"},  # warns of each bold letter that only the regular face has
        "weasyprint": {"level": "ERROR"},
    },
}
