"""A visitor who reads Teiten in one of its languages: what they see of a control, and what no page may show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import translation
from playwright.sync_api import expect

from results.domain.messages import ORIGINAL
from tests.e2e.conftest import Watched
from tests.e2e.english import english_texts


@dataclass(frozen=True)
class Visit:
    """language: that the browser asks for."""

    watched: Watched
    language: str

    def text(self, message: str, *, context: str | None = None, **values: Any) -> str:
        """Return a text of Teiten, given in English, as the catalogue has it in the visitor's language."""
        with translation.override(self.language):
            shown = translation.pgettext(context, message) if context else translation.gettext(message)
        assert self.language == ORIGINAL or shown != message, f"no {self.language} of: {message}"
        return shown.format(**values)

    def look(self, names: frozenset[str] = frozenset()) -> None:
        """Assert that the page is in the visitor's language, names aside, and no wider than the screen."""
        page = self.watched.page
        expect(page.locator("html")).to_have_attribute("lang", self.language)
        assert self.watched.overflow_px() == 0, f"{page.url} is wider than the screen"
        if self.language != ORIGINAL:
            english = english_texts(page, names)
            assert english == [], f"{page.url} has English: {english}"
