"""Teiten against its limits. `make bench` runs all; each prints ratios measured in one run."""
