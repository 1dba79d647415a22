"""A primary and standbys that stream from it."""
