"""What was uploaded under which Idempotency-Key."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Upload(models.Model):
    """A file that was stored, so that the same request sent again gives the same answer.

    key: the request's Idempotency-Key; each user has keys of their own
    sha256: of the file
    trial: whose bundle it is; null for a whole run
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    run = models.ForeignKey("results.Run", on_delete=models.CASCADE, related_name="+")
    trial = models.ForeignKey(
        "results.Trial", null=True, on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_upload_a_key")]

    def __str__(self) -> str:
        return f"upload {self.key}"
