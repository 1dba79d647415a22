"""The page of why two cells differ: which cells its address names, and what it says of them. Pure."""
