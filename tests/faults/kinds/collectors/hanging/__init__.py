"""hanging: a collector that never stops."""
