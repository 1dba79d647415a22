"""Update scale-up: one random account's filler rewritten, beside its fill factor."""
