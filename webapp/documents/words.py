"""The language that a document is made in, and how its sentences follow each other."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

from django.conf import settings
from django.utils.translation import override

from results.domain.messages import BLANK, localized


def in_language(language: str) -> AbstractContextManager[None]:
    """What is worded inside is in this language, whatever the visitor reads; in theirs where there is no such one."""
    return override(language) if language in dict(settings.LANGUAGES) else nullcontext()


def sentences(texts: Iterable[str]) -> str:
    """Return the texts behind each other, with a blank between them where the language has one; '' is none."""
    return localized(BLANK).join(filter(None, texts))
