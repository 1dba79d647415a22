"""What schemathesis has to be told of the API's media types; it reads this file itself."""

from __future__ import annotations

import schemathesis

schemathesis.serializer.alias("application/zip", "application/octet-stream")
