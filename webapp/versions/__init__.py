"""The table of versions: what it says, and how it is copied."""
