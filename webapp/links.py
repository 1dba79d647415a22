"""Addresses of pages that figures and tables link to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.urls import get_script_prefix, reverse


def trial_url(trial_id: int) -> str:
    return f"{_trials(get_script_prefix())}{trial_id}/"


def trial_urls() -> Callable[[int], str]:
    """Return what `trial_url` does, to be called for thousands of trials of one page."""
    return (_trials(get_script_prefix()).replace("{", "{{").replace("}", "}}") + "{}/").format


@cache
def _trials(script_prefix: str) -> str:
    """Return what the addresses of trials begin with: `reverse()` takes too long for each mark of a figure.

    script_prefix: where Teiten lies, which `reverse()` reads by itself."""
    return reverse("trials:detail", args=[0]).removesuffix("0/")


def difference_url(left: int, right: int) -> str:
    """Return the address of the page of what differs between the environments of two trials."""
    return f"{reverse('diff')}?left=trial:{left}&right=trial:{right}"
