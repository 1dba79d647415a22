"""What a trial ran in, in layers, and which differences matter."""
