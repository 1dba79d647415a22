"""Texts of commands, each stored once."""

from __future__ import annotations

from django.db import models


class CommandText(models.Model):
    """Lines that the commands of attempts have in common; `Attempt.commands` has its id in their place.

    hash: SHA-256 of the text, hex
    """

    hash = models.CharField(max_length=64, unique=True)
    text = models.TextField()
