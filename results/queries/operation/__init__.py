"""How the installation does: what waits, what runs, what ended lately, for whoever watches it."""
