"""What changed between the sides of a comparison: its addresses and words."""
