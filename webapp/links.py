"""Addresses of pages that figures and tables link to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.urls import get_script_prefix, reverse


def trial_url(trial_id: int) -> str:
    return f"{_pages_of('trials', get_script_prefix())}{trial_id}/"


def run_url(run_id: int) -> str:
    return f"{_pages_of('runs', get_script_prefix())}{run_id}/"


def trial_urls() -> Callable[[int], str]:
    """Return what `trial_url` does, to be called for thousands of trials of one page."""
    return (_pages_of("trials", get_script_prefix()).replace("{", "{{").replace("}", "}}") + "{}/").format


@cache
def _pages_of(kind: str, script_prefix: str) -> str:
    """Return what the addresses of trials, or runs, begin with: `reverse()` takes too long for each mark of a figure.

    script_prefix: where Teiten lies, which `reverse()` reads by itself."""
    return reverse(f"{kind}:detail", args=[0]).removesuffix("0/")


def difference_url(left: int, right: int) -> str:
    """Return the address of the page of what differs between the environments of two trials."""
    return f"{reverse('diff')}?left=trial:{left}&right=trial:{right}"
