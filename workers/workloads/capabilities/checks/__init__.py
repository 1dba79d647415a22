"""One module a capability, or a family of them, found by walking: each offers `CHECKS`."""
