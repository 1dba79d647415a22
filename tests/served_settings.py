"""Teiten's settings for a web process that tests start: static files under their own names, none collected."""

from __future__ import annotations

from webapp.settings import *  # noqa: F403
from webapp.settings import STORAGES

STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
