"""A real browser against a live server. Playwright's loop runs in the tests' thread, so Django must be told that its
ORM may be used there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Condition
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.signals import request_finished, request_started
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from results import models
from tests import factories

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
CHROMIUM = "/usr/bin/chromium-headless-shell"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# htmx says so of a request that a newer one replaces, or that a navigation cuts off: meant, not a failure
ABORTED = ("htmx:afterRequest", "htmx:sendAbort")
PASSWORD = "a long password of the tests"
PATIENCE_MS = 90_000  # of every wait: how fast a page is, is measured elsewhere
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(autouse=True)
def _plain_static(settings: Any, tmp_path: Path) -> None:
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    settings.TEITEN_OPEN_READING = True
    settings.TEITEN_BUNDLE_DIR = tmp_path


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One for all tests of this folder, not of the session: its driver keeps an event loop running."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=PATIENCE_MS)
        yield browser
        browser.close()


class Served:
    """The requests that the live server is at: those of a page that was left go on, and read the tables that the test's
    end empties."""

    def __init__(self) -> None:
        self._open = 0
        self._changed = Condition()

    def begun(self, **_: Any) -> None:
        self._count(1)

    def ended(self, **_: Any) -> None:
        self._count(-1)

    def _count(self, more: int) -> None:
        with self._changed:
            self._open += more
            self._changed.notify_all()

    def wait(self) -> None:
        """Until there is none."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._open == 0, PATIENCE_MS / 1000), f"{self._open} requests go on"


@pytest.fixture(scope="session")
def served() -> Iterator[Served]:
    counted = Served()
    request_started.connect(counted.begun)
    request_finished.connect(counted.ended)
    yield counted
    request_started.disconnect(counted.begun)
    request_finished.disconnect(counted.ended)


class Watched:
    """A page of which every script error, failed request and request to another host is noted."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.page: Page = context.new_page()
        self.base = base
        self.troubles: list[str] = []
        self.page.on("pageerror", lambda error: self.troubles.append(f"script: {error}"))
        self.page.on("console", lambda message: self._report(message.text) if message.type == "error" else None)
        self.page.on("request", lambda request: self._seen(request.url))

    def _report(self, text: str) -> None:
        if not text.startswith(ABORTED):
            self.troubles.append(text)

    def _seen(self, url: str) -> None:
        if not url.startswith(("data:", "blob:")) and urlsplit(url).netloc != urlsplit(self.base).netloc:
            self.troubles.append(f"another host: {url}")

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page

    def sign_in(self) -> None:
        self.open("/account/sign-in/")
        self.page.fill("#id_username", "member")
        self.page.fill("#id_password", PASSWORD)
        self.page.click("main button.primary")
        # One in the bar or one in the menu, by the width.
        self.page.wait_for_selector("form[action='/account/sign-out/'] button", state="attached")

    def overflow_px(self) -> int:
        script = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        return int(self.page.evaluate(script))


LOOKS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1440, "height": 900}},
    "dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True},
}


@pytest.fixture
def language() -> str:
    """What the browser asks for; a test may be given another."""
    return "en"


@pytest.fixture
def watched(
    chromium: Browser, live_server: Any, transactional_db: None, served: Served, request: Any, language: str
) -> Iterator[Watched]:
    """Fails the test when anything went wrong in the browser."""
    # colours that glide into each other would be looked at half way
    look = LOOKS[getattr(request, "param", "desktop")]
    # What the tests run in a page is no file of Teiten's; test_policy.py looks at the pages with their policy.
    context = chromium.new_context(**look, locale=language, reduced_motion="reduce", bypass_csp=True)
    context.set_default_timeout(PATIENCE_MS)
    page = Watched(context, live_server.url)
    yield page
    context.close()
    served.wait()
    assert page.troubles == []


@pytest.fixture
def agent(transactional_db: None) -> models.Agent:
    factories.member()
    return factories.agent()
