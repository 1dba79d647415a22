"""Addresses of pages that figures and tables link to."""

from __future__ import annotations

from django.urls import reverse


def trial_url(trial_id: int) -> str:
    return reverse("trials:detail", args=[trial_id])


def difference_url(left: int, right: int) -> str:
    """Return the address of the page of what differs between the environments of two trials."""
    return f"{reverse('diff')}?left=trial:{left}&right=trial:{right}"
