"""Pure values: no database, no network, no clock; randomness takes a seed."""
