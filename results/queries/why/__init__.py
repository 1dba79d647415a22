"""Why two cells differ: everything that was measured of both, side by side, and their stacks."""
