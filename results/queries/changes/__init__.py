"""What changed between the sides of a comparison, over all metrics and configurations."""
