"""Settings. Every choice an operator has is an environment variable read here, loudly.

Two URLs make the difference between the embedded default and production: without `DATABASE_URL`
the database is SQLite below `SWARMUI_HOME`; without `REDIS_URL` there is no broker and the worker
runs inside the web process.
"""

import os
from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONCE, NONE, SELF

from swarmui.environment import Environment, secret_key_in

BASE_DIR = Path(__file__).resolve().parent.parent
MAX_BODY_BYTES = 1_000_000  # of any request; larger ones are refused while they arrive
env = Environment()

SWARMUI_HOME = (BASE_DIR / env.swarmui_home).resolve()
WORKSPACE_ROOTS = tuple(Path(root).resolve() for root in env.swarmui_workspace_roots) or (BASE_DIR,)
ALLOW_NOT_ISOLATED = env.swarmui_allow_not_isolated
RECORDED_DELAY_SCALE = env.swarmui_recorded_delay_scale
LEASE_S = env.swarmui_lease_s
EMBEDDED = env.redis_url is None
PRODUCTION = env.swarmui_env == "production"

DEBUG = False
SECRET_KEY = env.secret_key or secret_key_in(SWARMUI_HOME)
SECRET_KEY_IS_GIVEN = env.secret_key is not None
ALLOWED_HOSTS = list(env.allowed_hosts)
TRUSTED_ORIGINS = tuple(env.trusted_origins)
CSRF_TRUSTED_ORIGINS = list(env.trusted_origins)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_htmx",
    "swarmui.apps.SwarmuiConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "swarmui.middleware.StaticFiles",
    "swarmui.middleware.ContentSecurityPolicy",
    "swarmui.middleware.ApiErrorsAreProblems",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "swarmui.middleware.SignInRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "swarmui.urls"
ASGI_APPLICATION = "swarmui.asgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ]
        },
    }
]

# --- Database ---------------------------------------------------------------------------------
SQLITE_OPTIONS: dict[str, Any] = {
    # Measured: Django's defaults answer "database is locked" to 84 % of concurrent
    # read-modify-writes, these settings to none.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; "
        "PRAGMA cache_size=-20000; PRAGMA mmap_size=134217728;"
    ),
}
POSTGRES_OPTIONS: dict[str, Any] = {
    "options": (
        "-c idle_in_transaction_session_timeout=15s -c statement_timeout=10s -c lock_timeout=3s"
    ),
}


def _database() -> dict[str, Any]:
    if env.database_url is None:
        name = SWARMUI_HOME / "swarmui.sqlite3"
        return {
            "ENGINE": "swarmui.sqlite",
            "NAME": str(name),
            "OPTIONS": SQLITE_OPTIONS,
            "TEST": {"NAME": str(SWARMUI_HOME / "test.sqlite3")},
        }
    database: dict[str, Any] = dict(dj_database_url.parse(env.database_url, conn_max_age=0))
    if database["ENGINE"] == "django.db.backends.sqlite3":
        return {**database, "ENGINE": "swarmui.sqlite", "OPTIONS": SQLITE_OPTIONS}
    options = {**POSTGRES_OPTIONS, **database.get("OPTIONS", {})}
    if env.swarmui_process == "web":
        # Under ASGI a kept connection belongs to a thread that may never serve again; a pool is
        # bounded. Workers fork, and a pool does not survive a fork.
        options["pool"] = {"min_size": 1, "max_size": 8, "timeout": 5}
    if env.swarmui_process == "worker":
        # A worker process runs one task after the other: it may keep its one connection.
        database |= {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    return {**database, "OPTIONS": options}


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"

# --- Celery: a task is a poke with an id, the claim is SQL -------------------------------------
CELERY_BROKER_URL = env.redis_url or "memory://localhost/"
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {"polling_interval": 0.02}
    if EMBEDDED
    else {
        "visibility_timeout": 120,
        "unacked_restore_interval": 2,
        "unacked_restore_throttle": 1,
        "socket_timeout": 10,
        "socket_keepalive": True,
        "health_check_interval": 10,
    }
)
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_ACKS_ON_FAILURE_OR_TIMEOUT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_MAX_TASKS_PER_CHILD = 200
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 400_000
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 10
CELERY_WORKER_ENABLE_SOFT_SHUTDOWN_ON_IDLE = True
# A broker that is away for a moment is no reason to end the attempts under way: their leases are
# the database's, and a message delivered twice finds nothing to claim.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = env.swarmui_queue
CELERY_BEAT_SCHEDULER = "swarmui.tasks.beat:SweepingScheduler"
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "swarmui.sweep", "schedule": 1.0},
}

# --- Channels ----------------------------------------------------------------------------------
CHANNEL_LAYERS: dict[str, dict[str, Any]] = (
    {"default": {"BACKEND": "swarmui.live.layers.LoopBoundLayer", "CONFIG": {"capacity": 1000}}}
    if EMBEDDED
    else {
        "default": {
            # The core layer loses idle sockets after 5 s with this Redis client and drops
            # silently over its capacity; publish-subscribe does neither.
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {
                "hosts": [{"address": env.redis_url, "socket_timeout": 60}],
                "prefix": env.swarmui_queue,
            },
        }
    }
)

# --- Pages -------------------------------------------------------------------------------------
STATIC_URL = "static/"
STATIC_ROOT = SWARMUI_HOME / "static" if EMBEDDED else BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "staticfiles": {"BACKEND": "swarmui.storage.ModuleManifestStorage"},
}
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "runs"
LOGOUT_REDIRECT_URL = "sign_in"

# --- Security ----------------------------------------------------------------------------------
# The origins of production name their scheme: when all are https, cookies never leave it.
SERVED_BY_HTTPS = bool(TRUSTED_ORIGINS) and all(
    origin.startswith("https://") for origin in TRUSTED_ORIGINS
)
_COOKIE_PREFIX = "__Host-" if SERVED_BY_HTTPS else ""
SESSION_COOKIE_NAME = f"{_COOKIE_PREFIX}swarmui_session"
CSRF_COOKIE_NAME = f"{_COOKIE_PREFIX}swarmui_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SERVED_BY_HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_HSTS_SECONDS = 31_536_000 if SERVED_BY_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = False  # other names below this host are not ours to decide
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
DATA_UPLOAD_MAX_NUMBER_FIELDS = 100
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # subdomains, see above
    "security.W008",  # the proxy that ends TLS redirects; health probes come by plain http
    "security.W021",  # a preload entry is the host owner's decision
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
CONTENT_SECURITY_POLICY: dict[str, Any] = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "connect-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
# Sign-in attempts are counted here: one counter for all web processes where there is a Redis.
CACHES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    if EMBEDDED
    else {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": env.redis_url,
        "KEY_PREFIX": env.swarmui_queue,
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
    }
}

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "swarmui.logs.one_line_formatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.log_level},
    "loggers": {
        "django.request": {"level": "ERROR"},
        # Any scanner can send a wrong Host; it gets a 400, and no page of the log.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        "celery": {"level": "WARNING"},
        "uvicorn.access": {"level": "WARNING"},
    },
}
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "swarmui.settings")
