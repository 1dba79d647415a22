"""The trends page: what its address selects. Pure."""
